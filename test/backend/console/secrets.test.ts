/** What the console keeps of what people type: audit and jobs last for months, and viewers read the jobs. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { keptArgs } from '../../../src/backend/jobs/job-state.ts';
import type { CommandDefinition } from '../../../src/protocol/mqtt/commands/command-definition.ts';
import { COMMANDS } from '../../../src/protocol/mqtt/commands/registry.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { until } from '../../until.ts';
import { type ConsoleFixture, consoleOfEachTest, PREFIX } from './console-on-loopback.ts';

const { start } = consoleOfEachTest();
const SECRET = 'hunter2-hunter2';
const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----\n`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----\n${SECRET}\n-----END CERTIFICATE-----\n`;
const TO = { devices: ['museum/a'] };

async function open(): Promise<ConsoleFixture> {
  const fixture = await start({}, ['ann', 'vic']);
  fixture.status('museum/a');
  await expect.poll(async () => (await fixture.ask('ann', 'GET', '/api/devices')).json.total).toBe(1);
  return fixture;
}
const auditOf = async (fixture: ConsoleFixture, what: string) =>
  (await fixture.ask('ann', 'GET', `/api/audit?what=${what}`)).json.lines;

describe('the audit', () => {
  it.each([
    ['an unknown key', 0, { mqtt: { password: SECRET } }],
    ['a secret as a key', 0, { [SECRET]: 1 }],
    ['a secret as a key deep within', 0, { lanes: [{ id: 'main', [SECRET]: { volume: 1 } }] }],
    ['a bad value', 0, { lanes: [{ id: SECRET.repeat(9) }] }],
    ['an older version', 7, { lanes: [{ id: 'main', voice: SECRET }] }],
    ['a text instead of a document', 0, SECRET],
  ])('keeps nothing of a configuration that was refused for %s', async (_, basedOn, document) => {
    const fixture = await open();
    const answer = await fixture.ask('ann', 'POST', '/api/config', {
      target: { device: 'museum/a' },
      basedOn,
      document,
    });
    expect([400, 409]).toContain(answer.status);
    const audit = await fixture.ask('ann', 'GET', '/api/audit');
    expect(audit.text).not.toContain(SECRET);
    expect(fixture.lines.join('')).not.toContain(SECRET);
  });

  it('shows that a configuration was refused, and keeps the document of a published one', async () => {
    const fixture = await open();
    const target = { device: 'museum/a' };
    const document = { lanes: [{ id: 'main', volume: 55 }] };
    await fixture.ask('ann', 'POST', '/api/config', { target, basedOn: 7, document });
    await fixture.ask('ann', 'POST', '/api/config', { target, basedOn: 0, document: { volume: 1 } });
    await fixture.ask('ann', 'POST', '/api/config', { target, basedOn: 0, document });
    expect(await auditOf(fixture, 'config')).toMatchObject([
      { on: 'museum/a', args: { basedOn: 0, document }, result: { ok: true } },
      { on: 'museum/a', args: { basedOn: 0 }, result: { ok: false } },
      { on: 'museum/a', args: { basedOn: 7 }, result: { ok: false } },
    ]);
  });
});

describe('the job of a command', () => {
  it('keeps only arguments that its definition names, and nothing of a command that names none', () => {
    const args = { lane: 'main', text: 'abcd', deep: { secret: 1 } };
    expect(keptArgs(args, ['lane', 'text', 'deep'])).toBe(args);
    expect(keptArgs(args, ['lane'])).toEqual({
      lane: 'main',
      text: '(not kept; length: 4)',
      deep: '(not kept)',
    });
    expect(keptArgs({ text: 'abcd' })).toEqual({ text: '(not kept; length: 4)' });
    expect(keptArgs({})).toEqual({});
  });

  it('leaves out what is spoken and certificates, of all arguments of this version', () => {
    const left = Object.entries(COMMANDS).flatMap(([name, { args, keeps }]: [string, CommandDefinition]) => {
      const { properties = {} } = z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' });
      return Object.keys(properties).flatMap((arg) => (keeps?.includes(arg) ? [] : [`${name}.${arg}`]));
    });
    expect(left).toEqual(['say.text', 'certificate.certificate']);
  });
});

describe('a certificate', () => {
  it('is refused when it holds a private key, which then stands nowhere', async () => {
    const fixture = await open();
    const args = { request: 'mB7kQ2xW9vR4tY8p', certificate: PRIVATE_KEY };
    const given = { command: 'certificate', args, to: TO };
    const answer = await fixture.ask('ann', 'POST', '/api/commands', given);
    expect(answer.json.error.faults).toEqual([
      { pointer: '/certificate', message: expect.stringMatching(/private key/) },
    ]);
    expect(fixture.device.messages).toEqual([]);
  });

  it('is neither in the audit nor in the job', async () => {
    const fixture = await open();
    const args = { request: 'mB7kQ2xW9vR4tY8p', certificate: CERTIFICATE };
    const given = { command: 'certificate', args, to: TO };
    const answer = await fixture.ask('ann', 'POST', '/api/commands', given);
    expect(answer.json.job.args).toEqual({
      request: args.request,
      certificate: `(not kept; length: ${CERTIFICATE.length})`,
    });
    await expect.poll(() => fixture.device.messages.length).toBe(1);
    expect(JSON.parse(fixture.device.messages[0]?.payload ?? '').args).toEqual(args);
    expect(await auditOf(fixture, 'command')).toMatchObject([{ args: answer.json.job.args }]);
    const jobs = await fixture.ask('vic', 'GET', '/api/jobs');
    expect(jobs.text).not.toContain(SECRET);
  });
});

describe('a desired configuration', () => {
  it('is changed by one of two people who change it at the same time', async () => {
    const fixture = await open();
    const change = (volume: number) =>
      fixture.ask('ann', 'POST', '/api/config', {
        target: { device: 'museum/a' },
        basedOn: 0,
        document: { lanes: [{ id: 'main', volume }] },
      });
    const answers = await Promise.all([change(1), change(2), change(3)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    // The next one, based on the new version, is possible.
    const desired = async () =>
      (await fixture.ask('vic', 'GET', '/api/devices/museum/a/config')).json.desired;
    await expect.poll(desired).toMatchObject({ version: 1 });
    const next = { target: { device: 'museum/a' }, basedOn: 1, document: { lanes: [] } };
    expect((await fixture.ask('ann', 'POST', '/api/config', next)).json.version).toBe(2);
  });

  it('waits at the broker for a device that is away', async () => {
    const fixture = await open();
    const document = { lanes: [{ id: 'main', volume: 55 }] };
    for (const target of [{ device: 'museum/a' }, { tenant: 'museum', group: 'lobby' }])
      await fixture.ask('ann', 'POST', '/api/config', { target, basedOn: 0, document });
    const buses = createTestBuses();
    const late = buses.open(
      { url: fixture.broker.url, clientId: 'museum.a' },
      { subscriptions: [`${PREFIX}/museum/a/config/desired`, `${PREFIX}/museum/group/lobby/config/desired`] },
    );
    await until(() => late.messages.length === 2, 'both documents');
    for (const { payload, retain } of late.messages)
      expect([JSON.parse(payload), retain]).toEqual([
        expect.objectContaining({ ...document, version: 1 }),
        true,
      ]);
    await buses.closeAll();
  });
});
