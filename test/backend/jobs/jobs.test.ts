/** What people do at the console: commands, configuration and figures, on both stores. */
import { describe, expect, it } from 'vitest';
import { createKeyPair, parsePrivateKey } from '../../../src/adapters/signing/signing-keys.ts';
import { type ConsoleFixture, consoleOfEachTest, PREFIX } from '../console/console-on-loopback.ts';
import { onBothStores } from '../store/both-stores.ts';
import { PASSWORD as STORE_PASSWORD } from '../store/postgres-server.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';

const { start } = consoleOfEachTest();
const rows = (fixture: ConsoleFixture, view: object) =>
  fixture.ask('vic', 'GET', `/api/devices?view=${encodeURIComponent(JSON.stringify(view))}`);

/** Answers every command as a device does. */
function playDevices(fixture: ConsoleFixture, silent: readonly string[] = []) {
  const messages: { topic: string; body: Record<string, unknown> }[] = [];
  const seen = new Set<unknown>();
  let isOff = false;
  const timer = setInterval(() => {
    for (const message of fixture.device.messages) {
      if (isOff || seen.has(message) || !message.topic.includes('/cmd/')) continue;
      seen.add(message);
      const body = JSON.parse(message.payload);
      messages.push({ topic: message.topic, body });
      const [tenant, device, , command] = message.topic.slice(PREFIX.length + 1).split('/');
      const name = `${tenant}/${device}`;
      if (silent.includes(name)) continue;
      fixture.say(
        name,
        `cmd/${command}/res`,
        { ts: null, id: body.id, status: 'ok', data: { done: name } },
        false,
      );
    }
  }, 20);
  return {
    messages,
    off: (off: boolean) => {
      isOff = off;
    },
    end: () => clearInterval(timer),
  };
}

onBothStores((maker) => {
  const open = async (more: object = {}, people = ['ann', 'otto', 'vic']) => {
    const { config } = await maker.make();
    return start({ store: config, storePassword: STORE_PASSWORD, ...more }, people);
  };

  it('sends a command to everybody whom a filter admits, and shows the progress of each', async () => {
    const clock = createJumpingClock();
    const fixture = await open({ clock });
    for (const name of ['a', 'b', 'c']) fixture.status(`museum/${name}`);
    await expect.poll(async () => (await rows(fixture, {})).json.total).toBe(3);
    const devices = playDevices(fixture, ['museum/c']);
    const to = { filter: { status: ['ready'] }, except: ['museum/b'] };
    const begun = await fixture.ask('otto', 'POST', '/api/commands', { command: 'mute', to, validS: 60 });
    expect(begun.json.job).toMatchObject({ who: 'otto', devices: 2, endedAt: null });
    const path = `/api/jobs/${begun.json.job.id}`;
    await expect.poll(async () => (await fixture.ask('vic', 'GET', path)).json.job.counts.ok).toBe(1);
    clock.jump(60_000);
    await expect.poll(async () => (await fixture.ask('vic', 'GET', path)).json.job.endedAt).not.toBeNull();
    const { json } = await fixture.ask('vic', 'GET', path);
    expect(json.devices).toMatchObject([
      { device: 'museum/a', state: 'ok', data: { done: 'museum/a' } },
      { device: 'museum/c', state: 'silent', message: 'it did not answer in time' },
    ]);
    const silent = await fixture.ask('vic', 'GET', `${path}?state=silent`);
    expect(silent.json).toMatchObject({ total: 1, first: 0, devices: [{ device: 'museum/c' }] });
    expect(silent.json.devices).toHaveLength(1);
    const second = await fixture.ask('vic', 'GET', `${path}?first=1&last=2`);
    expect(second.json).toMatchObject({ total: 2, first: 1, devices: [{ device: 'museum/c' }] });
    const audit = await fixture.ask('ann', 'GET', '/api/audit?what=command.mute');
    await expect
      .poll(async () => (await fixture.ask('ann', 'GET', '/api/audit?what=command')).json.lines[0].result)
      .toMatchObject({ ok: false, text: '1 ok, 1 silent' });
    expect(audit.json.lines[0]).toMatchObject({ who: 'otto', on: '2 devices' });
    const ordered = devices.messages.map(({ topic }) => topic).filter((topic) => topic.endsWith('/mute'));
    expect(ordered.sort()).toEqual([`${PREFIX}/museum/a/cmd/mute`, `${PREFIX}/museum/c/cmd/mute`]);
    devices.end();
    const wrong = await fixture.ask('otto', 'POST', '/api/commands', {
      command: 'volume',
      args: { percent: 400 },
      to,
    });
    expect(wrong.json.error).toMatchObject({ code: 'invalid', faults: [{ pointer: expect.any(String) }] });
    const high = await fixture.ask('otto', 'POST', '/api/commands', { command: 'reboot', to });
    expect(high.json.error.code).toBe('role');
  });

  it('goes on with a job after the backend was ended, and stays signed in', async () => {
    const fixture = await open();
    for (let index = 0; index < 30; index += 1) fixture.status(`museum/k-${index}`);
    await expect.poll(async () => (await rows(fixture, {})).json.total).toBe(30);
    const devices = playDevices(fixture);
    devices.off(true);
    const to = { filter: {} };
    const begun = await fixture.ask('ann', 'POST', '/api/commands', { command: 'status', to, validS: 120 });
    const { id } = begun.json.job;
    await expect.poll(() => fixture.device.messages.length).toBeGreaterThanOrEqual(30);
    await fixture.restart();
    devices.off(false);
    await expect
      .poll(async () => (await fixture.ask('ann', 'GET', `/api/jobs/${id}`)).json?.job?.counts?.ok)
      .toBe(30);
    await expect
      .poll(async () => (await fixture.ask('ann', 'GET', '/api/audit?what=command')).json.lines[0].result)
      .toMatchObject({ ok: true, text: '30 ok' });
    // The same id and content again: a device takes it for the same command.
    const ofOne = devices.messages.filter(({ topic }) => topic === `${PREFIX}/museum/k-7/cmd/status`);
    expect(
      new Set(ofOne.map(({ body }) => JSON.stringify([body['id'], body['args'], body['not_after']]))).size,
    ).toBe(1);
    devices.end();
  });

  it('takes over the job of a killed backend when its lease has ended', async () => {
    const { config, engine: connect } = await maker.make();
    const clock = createJumpingClock();
    const fixture = await start({ store: config, storePassword: STORE_PASSWORD, clock }, ['ann']);
    fixture.status('museum/a');
    await expect.poll(async () => (await fixture.ask('ann', 'GET', '/api/devices')).json.total).toBe(1);
    const to = { devices: ['museum/a'] };
    const begun = await fixture.ask('ann', 'POST', '/api/commands', { command: 'status', to, validS: 600 });
    await expect.poll(() => fixture.device.messages.length).toBe(1);
    const engine = connect();
    const lose = "UPDATE console_job SET instance = 'killed', lease_until = 0";
    await engine.transact(null, (sql) => sql.query(lose));
    await engine.close();
    const devices = playDevices(fixture);
    fixture.device.messages.length = 0;
    await expect
      .poll(async () => {
        clock.jump(5000);
        return (await fixture.ask('ann', 'GET', `/api/jobs/${begun.json.job.id}`)).json.job.counts.ok;
      })
      .toBe(1);
    devices.end();
  });

  it('publishes a checked desired configuration once for each version', async () => {
    const fixture = await open();
    fixture.status('museum/a');
    fixture.say('museum/a', 'config/reported', {
      ts: null,
      version: { device: 4 },
      hash: 'x',
      errors: [],
      effective: { lanes: [{ id: 'main', volume: 40 }] },
    });
    await expect.poll(async () => (await rows(fixture, {})).json.total).toBe(1);
    const target = { device: 'museum/a' };
    const document = { lanes: [{ id: 'main', volume: 55 }] };
    const bad = { target, basedOn: 0, document: { lanes: [{ id: 'main', volume: 900 }] } };
    expect((await fixture.ask('ann', 'POST', '/api/config', bad)).json.error).toMatchObject({
      code: 'invalid',
      faults: [{ pointer: '/lanes/0/volume' }],
    });
    const done = await fixture.ask('ann', 'POST', '/api/config', { target, basedOn: 0, document });
    expect(done.json).toMatchObject({ version: 5, warnings: [expect.stringContaining('signingKeyFile')] });
    await expect
      .poll(async () => (await fixture.ask('vic', 'GET', '/api/devices/museum/a/config')).json)
      .toMatchObject({
        desired: { version: 5, lanes: [{ id: 'main', volume: 55 }] },
        differences: [{ key: 'main.volume', desired: 55, effective: 40 }],
      });
    expect((await rows(fixture, {})).json.rows[0].isOffDesired).toBe(true);
    const late = await fixture.ask('ann', 'POST', '/api/config', { target, basedOn: 0, document });
    expect(late).toMatchObject({ status: 409, json: { error: { code: 'changed' } } });
  });

  it('counts conversations once, by day and language, without words', async () => {
    const clock = createJumpingClock();
    const fixture = await open({ clock });
    fixture.status('museum/a');
    const ended = {
      ts: '2026-11-27T10:00:00.000Z',
      lane: 'main',
      duration_s: 90,
      sentences: 7,
      delay_ms: 900,
    };
    const event = { ...ended, languages: ['en', 'es'], billed_s: 60, words: 'nobody may see' };
    for (let count = 0; count < 2; count += 1)
      fixture.say('museum/a', 'event/conversation_ended', event, false);
    // When this one is counted, the two before it were heard.
    const last = { ...event, ts: '2026-11-27T11:00:00.000Z', languages: ['fr'] };
    fixture.say('museum/a', 'event/conversation_ended', last, false);
    const today = new Date().toISOString().slice(0, 10);
    const ask = (by: string) =>
      fixture.ask('vic', 'GET', `/api/conversations?from=${today}&to=${today}&by=${by}`);
    await expect
      .poll(async () => {
        // They are written now and then.
        clock.jump(5000);
        return (await ask('language')).json.lines;
      })
      .toContainEqual(expect.objectContaining({ name: 'fr' }));
    expect((await ask('day')).json).toMatchObject({
      lines: [{ name: today, conversations: 2 }],
      total: { conversations: 2, minutes: 3, sentences: 14, billedMinutes: 2, delayMs: 900 },
    });
    for (const query of [
      'from=2026-11-02&to=2026-11-01',
      'from=2025-01-01&to=2026-11-01',
      'from=2026-11-31&to=2026-12-01',
    ])
      expect([query, (await fixture.ask('vic', 'GET', `/api/conversations?${query}`)).status]).toEqual([
        query,
        400,
      ]);
    expect((await fixture.ask('vic', 'GET', '/api/cost?month=2026-13')).status).toBe(400);
    expect((await ask('language')).json.lines).toMatchObject([
      { name: 'en', conversations: 1, minutes: 1.5, sentences: 7, billedMinutes: 1, delayMs: 900 },
      { name: 'es', conversations: 1 },
      { name: 'fr', conversations: 1 },
    ]);
    const cost = await fixture.ask('vic', 'GET', `/api/cost?month=${today.slice(0, 7)}`);
    expect(cost.json).toMatchObject({ by: 'device', lines: [], total: { sessions: 0, minutes: 0 } });
    const csv = await fixture.ask('vic', 'GET', `/api/cost.csv?month=${today.slice(0, 7)}`);
    expect(csv.text).toMatch(/^name,sessions,minutes,/);
  });
});

describe('a backend with the owner key', () => {
  it('signs commands, so that devices which demand it carry them out', async () => {
    const pair = createKeyPair();
    const fixture = await start({ signingKey: parsePrivateKey(pair.privatePem, 'test') }, ['ann']);
    fixture.status('museum/a');
    await expect.poll(async () => (await fixture.ask('ann', 'GET', '/api/devices')).json.total).toBe(1);
    await fixture.ask('ann', 'POST', '/api/commands', { command: 'reboot', to: { devices: ['museum/a'] } });
    await expect.poll(() => fixture.device.messages.length).toBe(1);
    const message = JSON.parse(fixture.device.messages[0]?.payload ?? '{}');
    const [, body = ''] = String(message.jws).split('.');
    const signed = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    expect(signed).toMatchObject({ id: message.id, cmd: 'reboot', device: `${PREFIX}/museum/a` });
    expect((await fixture.ask('ann', 'GET', '/api/registry')).json.signs).toBe(true);
  });

  it('says of a command that must be signed that it cannot sign it when there is no key', async () => {
    const fixture = await start({}, ['vic']);
    const { commands, desired } = (await fixture.ask('vic', 'GET', '/api/registry')).json;
    const note = (name: string) => commands.find((one: { name: string }) => one.name === name).note;
    expect(note('mute')).toBeNull();
    expect(note('reboot')).toMatch(/no owner key \(signingKeyFile\)/);
    expect(desired.properties.lanes).toBeDefined();
  });
});
