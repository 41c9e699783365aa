import { describe, expect, it } from 'vitest';
import { createBrokers } from '../../src/device/broker/broker-choice.ts';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';
import { createScheduledAgent } from './scheduled-agent.ts';

const MINUTE_MS = 60_000;
const FULL = 'the file /var/lib/dragoman/x.json cannot be written (ENOSPC)';
const inTurn = () => new Promise((resolve) => setImmediate(resolve));
const bodies = (deps: FakeDeps, kind: string) => deps.sent(`event/${kind}`).map(({ body }) => body);
const status = (deps: FakeDeps) => {
  const { status, reasons } = deps.sent('status').at(-1)?.body ?? {};
  return [status, reasons];
};

describe('a changed configuration that is refused', () => {
  const wrong = [
    { key: 'lanes[0].echo', message: 'config.json:9:15: lanes[0].echo: is "of"; did you mean "off"?' },
  ];

  it('is published each time, and stays a reason until one is accepted', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    expect(status(deps)).toEqual(['ready', []]);
    deps.agent.refuse(wrong);
    deps.agent.refuse(wrong);
    const told = { ts: expect.any(String) as string, lane: null, problems: [wrong[0]?.message], more: 0 };
    expect(bodies(deps, 'config_problem')).toEqual([told, told]);
    expect(status(deps)).toEqual(['degraded', ['config_problem:lanes[0].echo']]);
    expect(bodies(deps, 'config_problem_over')).toEqual([]);
    deps.agent.apply(deps.config);
    deps.agent.apply(deps.config);
    expect(bodies(deps, 'config_problem_over')).toMatchObject([{ lane: null }]);
    expect(status(deps)).toEqual(['ready', []]);
  });

  it('fits into a message, and contains no secret', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const address = 'mqtt://kiosk:open-sesame@broker.example';
    const problems = Array.from({ length: 101 }, (_, index) => ({
      key: `lanes[${index}].${'k'.repeat(500)}`,
      message: `${address} ${'x'.repeat(20_000)}`,
    }));
    deps.agent.refuse([...problems, { key: '', message: 'password=open-sesame' }]);
    const [told] = bodies(deps, 'config_problem');
    expect(told).toMatchObject({ more: 92 });
    expect(told?.['problems']).toHaveLength(10);
    expect(JSON.stringify(told).length).toBeLessThan(4000);
    expect(JSON.stringify(status(deps)).length).toBeLessThan(250);
    deps.agent.refuse([{ key: '', message: `${'x'.repeat(280)} password=open-sesame-4711` }]);
    expect(JSON.stringify(deps.published)).not.toMatch(/open-/);
    expect(status(deps)).toEqual(['degraded', ['config_problem']]);
  });
});

describe('a broker file that is no longer readable', () => {
  it('is published once at the connection that needed the file, and when the file is readable again', async () => {
    const config = testConfig({ start: 'command' }, { mqtt: { url: 'mqtt://127.0.0.1:1', username: 'me' } });
    let password: string | null = 'open-sesame';
    const brokers = createBrokers({
      mqtt: config.mqtt,
      connect: ({ url }) => ({
        url,
        clientId: 'museum.kiosk-01',
        username: 'me',
        password() {
          if (password === null) throw new Error('gone');
          return password;
        },
      }),
      unreadable: () => ({ key: 'mqtt.passwordFile', message: 'mqtt.passwordFile: x does not exist' }),
    });
    const deps = createFakeDeps(config, { brokers });
    const connect = (): string | undefined => {
      const used = brokers.connection('present').password?.();
      deps.brokerUp();
      return used;
    };
    await deps.agent.start();
    expect(connect()).toBe('open-sesame');
    password = null;
    expect([connect(), connect()]).toEqual(['open-sesame', 'open-sesame']);
    expect(bodies(deps, 'config_problem')).toMatchObject([
      { lane: null, problems: ['mqtt.passwordFile: x does not exist'], more: 0 },
    ]);
    expect(status(deps)).toEqual(['degraded', ['stopped', 'config_problem:mqtt.passwordFile']]);
    password = 'another';
    expect(connect()).toBe('another');
    expect(bodies(deps, 'config_problem_over')).toHaveLength(1);
    expect(status(deps)).toEqual(['idle', ['stopped']]);
    password = null;
    deps.bus.listener.down('unreachable', 'it is away');
    brokers.connection('present').password?.();
    deps.bus.listener.down('unreachable', 'it is away');
    expect(bodies(deps, 'config_problem')).toHaveLength(2);
    password = 'another';
    deps.agent.apply(config);
    expect(bodies(deps, 'config_problem_over')).toHaveLength(2);
  });
});

describe('a full disk', () => {
  const command = (deps: FakeDeps, id: string): void => deps.command('volume', { id, args: { percent: 50 } });
  const cases: readonly (readonly [string, string, (deps: FakeDeps) => unknown])[] = [
    ['commands', 'commandFile', (deps) => command(deps, 'c1')],
    ['desired', 'desiredFile', (deps) => deps.deliver(`${BASE}/config/desired`, { version: 1 })],
    // The first task is already accepted.
    ['tasks', 'taskFile', () => {}],
    ['budget', 'budgetFile', (deps) => deps.clock.elapse(3 * MINUTE_MS)],
  ];

  it.each(cases)('is reported once for %s, and again when it recovers', async (what, key, change) => {
    const kept = createMemoryFile();
    kept.fail(FULL);
    const deps = createScheduledAgent({ budget: { minutesPerDay: 600 } }, { [key]: kept.file });
    await deps.goLive();
    await change(deps);
    await inTurn();
    expect(bodies(deps, 'disk_problem')).toMatchObject([{ lane: null, what, message: FULL }]);
    expect(status(deps)).toEqual(['degraded', expect.arrayContaining([`disk_problem:${what}`])]);
    expect(kept.text).toBeNull();
    for (let minute = 0; minute < 5; minute += 1) await deps.clock.elapse(MINUTE_MS);
    expect(bodies(deps, 'disk_problem')).toHaveLength(1);
    kept.fail(null);
    await deps.clock.elapse(MINUTE_MS);
    expect(kept.text).toBe(kept.writes.at(-1));
    expect(bodies(deps, 'disk_problem_over')).toMatchObject([{ lane: null, what }]);
    expect(JSON.stringify(status(deps))).not.toContain('disk_problem');
  });

  it('is reported for each file separately', async () => {
    const files = { commands: createMemoryFile(), desired: createMemoryFile() };
    const more = { commandFile: files.commands.file, desiredFile: files.desired.file };
    const deps = createFakeDeps(testConfig(), more);
    await deps.goLive();
    files.commands.fail(FULL);
    files.desired.fail(FULL);
    for (const [, , change] of cases.slice(0, 2)) await change(deps);
    await inTurn();
    expect(status(deps)).toEqual(['degraded', ['disk_problem:commands', 'disk_problem:desired']]);
    files.commands.fail(null);
    await deps.clock.elapse(MINUTE_MS);
    expect(bodies(deps, 'disk_problem_over')).toMatchObject([{ what: 'commands' }]);
    expect(JSON.stringify(status(deps))).toContain('disk_problem:desired');
  });

  it('does not block the end of the agent', async () => {
    const kept = createMemoryFile();
    const deps = createFakeDeps(testConfig(), { commandFile: kept.file });
    await deps.goLive();
    kept.fail(FULL);
    command(deps, 'c1');
    await inTurn();
    const tries = kept.writes.length;
    const ended = deps.agent.stop();
    for (let tenth = 0; tenth < 100; tenth += 1) await deps.clock.elapse(100);
    await ended;
    expect(kept.writes.length - tries).toBeLessThan(6);
  });
});
