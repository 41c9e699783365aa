/** `dragoman-backend rollout` as an owner types it, and what a running backend makes of it. */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createKeyPair, parsePrivateKey } from '../../../src/adapters/signing/signing-keys.ts';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { createRollout } from '../../../src/backend/rollout/rollout.ts';
import { openKeptConsoleStore } from '../../../src/backend/store/open-store.ts';
import { createRolloutStore } from '../../../src/backend/store/rollout-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { type Broker, startBroker } from '../../../src/cli/demo/broker.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { freePort } from '../../free-port.ts';
import { commandsOf } from '../../tidy/page-commands.ts';
import { fixtureOfEachTest, PREFIX } from '../backend-on-loopback.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';

let folder: string;
let config: string;
let broker: Broker;
const buses = createTestBuses(createSystemClock());
const base = {
  mqtt: { url: 'mqtt://127.0.0.1:1' },
  service: { url: 'http://127.0.0.1:9', streamUrl: 'wss://stream.example/x' },
  allow: ['museum/*'],
};
const IDLE = { state: 'idle', from: null, to: null, reason: null, progress: null };
/** Publishes as a device, which stays in the broker. */
function appear(device: string, update: object | null): void {
  const { bus } = buses.open({ url: broker.url, clientId: device });
  const say = (noun: string, body: object) =>
    bus.publish(`${PREFIX}/museum/${device}/${noun}`, JSON.stringify({ ts: null, ...body }), {
      retain: true,
    });
  say('status', { status: 'ready', version: '1.2.0', reasons: [] });
  say('state', { boot_id: 'b1', lanes: [], update });
}
beforeEach(async () => {
  broker = await startBroker();
  base.mqtt.url = broker.url;
  folder = mkdtempSync(join(tmpdir(), 'dragoman-rollout-'));
  config = join(folder, 'backend.json');
  configure({});
});
afterEach(async () => {
  await buses.closeAll();
  await broker.close();
  rmSync(folder, { recursive: true, force: true });
});

function configure(more: object): void {
  writeFileSync(config, JSON.stringify({ ...base, store: { path: join(folder, 'store.db') }, ...more }));
}

async function rollout(...words: string[]) {
  let [out, err] = ['', ''];
  const code = await runBackendProgram(['rollout', ...words, '--config', config], {
    env: {},
    print: (text) => {
      out += text;
    },
    complain: (text) => {
      err += text;
    },
    output: Object.assign(new PassThrough(), { fd: 1 }),
    signals: new EventEmitter(),
  });
  for (const line of words.includes('--json') ? [] : out.split('\n'))
    expect(line.length).toBeLessThanOrEqual(80);
  return { code, out, said: `${out}${err}`.replaceAll(/\s+/g, ' ') };
}
const statusOf = async () => JSON.parse((await rollout('status', '--json')).out).rollout;

/** A repository as scripts/release makes it, as far as it is read. */
function publish(versions: readonly string[], isSigned = true): string {
  const suite = join(folder, 'repository/dists/stable');
  const stanza = (version: string) => `Package: dragoman\nVersion: ${version}\nArchitecture: arm64\n`;
  const list = `Package: dragoman-node\nVersion: 22.1.0-1\n\n${versions.map(stanza).join('\n')}\n`;
  mkdirSync(join(suite, 'main/binary-arm64'), { recursive: true });
  writeFileSync(join(suite, 'main/binary-arm64/Packages'), list);
  const sum = isSigned ? createHash('sha256').update(list).digest('hex') : '';
  writeFileSync(join(suite, 'InRelease'), ` ${sum} 100 main/binary-arm64/Packages\n`);
  return join(folder, 'repository');
}

describe('dragoman-backend rollout', () => {
  it('starts, pauses, resumes and aborts, and says what follows', async () => {
    expect(await rollout('status')).toMatchObject({
      code: 0,
      said: expect.stringContaining('there is no roll-out'),
    });
    expect(await statusOf()).toBeNull();
    expect(await rollout('pause')).toMatchObject({
      code: 1,
      said: expect.stringContaining('there is no roll-out'),
    });
    appear('kiosk-1', IDLE);
    const begun = await rollout('start', '1.3.0');
    expect(begun).toMatchObject({
      code: 0,
      said: expect.stringContaining('1 %, 10 %, 100 % of all devices'),
    });
    expect(begun.said).toContain('signingKeyFile is not set');
    expect(await statusOf()).toMatchObject({
      version: '1.3.0',
      state: 'running',
      wave: 1,
      waves: [1, 10, 100],
      group: null,
      reason: null,
      ordered: 0,
      live: 0,
      failed: 0,
      rolled_back: 0,
      offline: 0,
      driven: false,
    });
    const shown = await rollout('status');
    expect(shown.out).toContain('roll-out of 1.3.0: running, wave 1 of 3 (1 %)');
    expect(shown.out).toContain('no backend works on it');
    const again = await rollout('start', '1.4.0');
    expect(again).toMatchObject({ code: 1, said: expect.stringContaining('a roll-out of 1.3.0 is running') });
    expect(await rollout('pause')).toMatchObject({ code: 0, said: expect.stringContaining('is paused') });
    expect((await rollout('start', '1.4.0')).said).toContain('a roll-out of 1.3.0 is paused');
    expect(await rollout('resume')).toMatchObject({ code: 0, out: 'the roll-out of 1.3.0 goes on\n' });
    const ended = await rollout('abort');
    expect(ended.said).toContain('no more orders are sent; 0 devices have 1.3.0 and keep it');
    expect((await rollout('abort')).said).toContain('it was aborted already');
    expect((await rollout('start', '1.4.0', '--waves', '100%')).code).toBe(0);
    expect(await statusOf()).toMatchObject({ version: '1.4.0', waves: [100] });
  });

  it.each([
    [1, 1, '1 device has 1.3.0 and keeps it, 1 has the order and continues'],
    [2, 3, '2 devices have 1.3.0 and keep it, 3 have the order and continue'],
  ])('says what %i updated devices and %i under way do in a pause', async (live, ordered, words) => {
    const plan = { version: '1.3.0', manifestUrl: null, waves: [100], group: null, by: 'ann' };
    const entry = {
      wave: 0,
      attempts: 1,
      sentAt: null,
      isHeard: true,
      before: null,
      reason: null,
      isExcused: false,
    };
    const states = Array.from({ length: live + ordered }, (_, at) => (at < live ? 'live' : 'ordered'));
    const drawn = Object.fromEntries(
      states.map((state, index) => [`museum/kiosk-${index}`, { ...entry, state }]),
    );
    const store = createRolloutStore(createSqliteEngine(join(folder, 'store.db')));
    const body = JSON.stringify({ ...createRollout('r1', plan, Date.UTC(2026, 10, 27)), drawn });
    await store.replace(null, { id: 'r1', body });
    await store.close();
    expect((await rollout('pause')).said).toContain(`is paused: no more orders are sent; ${words}`);
  });

  it('does what the lines of the page say', async () => {
    configure({ groups: [{ name: 'lobby', members: ['museum/lobby-*'] }] });
    appear('lobby-1', IDLE);
    const page = readFileSync(new URL('../../../docs/updates.md', import.meta.url), 'utf8');
    const lines = commandsOf('docs/updates.md', page).filter(({ line }) => line.includes('rollout'));
    expect(lines).toHaveLength(6);
    const states: unknown[] = [];
    for (const { line } of lines) {
      const words = line.replace(' --config backend.json', '').split(' ').slice(2);
      // The page shows two ways to start.
      if (words[0] === 'start') await rollout('abort');
      expect([line, (await rollout(...words)).code]).toEqual([line, 0]);
      states.push((await statusOf()).state);
    }
    expect(states).toEqual(['running', 'running', 'running', 'paused', 'running', 'aborted']);
    expect(await statusOf()).toMatchObject({ waves: [5, 100], group: 'lobby' });
  });

  it('names the field and the fix when the input is wrong', async () => {
    configure({
      groups: [{ name: 'lobby', members: ['museum/lobby-*'] }],
      metrics: { listen: '127.0.0.1:0' },
      releases: { path: publish(['1.10.0-1', '1.9.0-1', '1.3.0-1', '1.2.0-1', '1.1.0-1', '1.0.0-1']) },
    });
    appear('lobby-1', IDLE);
    const refused = async (...words: string[]) => {
      const { code, said } = await rollout('start', ...words);
      expect(code).toBe(2);
      return said;
    };
    expect(await refused('1.3.0', '--waves', '10%,5%,100%')).toContain(
      '--waves: "5%" must be more than "10%"',
    );
    expect(await refused('1.3.0', '--waves', '1%,50%')).toContain(
      '--waves: must end with all devices: add ",100%"',
    );
    expect(await refused('1.3.0', '--group', 'hall')).toContain(
      '--group: there is no group "hall": the configuration has lobby',
    );
    expect(await refused('1.5.0')).toMatch(
      /<version>: 1\.5\.0 is not in the signed index of releases\.path .* which has 1\.1\.0, 1\.2\.0, 1\.3\.0, 1\.9\.0, 1\.10\.0;/,
    );
    expect(await refused('v1')).toContain('<version> must be a version such as "1.3.0"');
    expect(await refused('1.3.0', '--manifest-url', 'https://r.example/')).toContain(
      '--manifest-url must be',
    );
    expect((await rollout('start', '1.3.0', '--group', 'lobby')).code).toBe(0);
    await rollout('abort');
    publish(['1.2.0-1', '1.3.0-1', '1.5.0-1'], false);
    expect(await refused('1.5.0')).toContain('which has none');
    rmSync(join(folder, 'repository/dists'), { recursive: true });
    expect((await rollout('start', '1.3.0')).said).toMatch(
      /releases.path: the index in .* cannot be read \(there is no such file or folder\)/,
    );
    configure({ store: { path: ':memory:' } });
    expect((await rollout('start', '1.3.0')).said).toContain('the configuration names no store');
  });
});

describe('the beginning of a roll-out', () => {
  const refused = async (...words: string[]) => {
    const { code, said } = await rollout('start', '1.3.0', ...words);
    expect(code).toBe(1);
    expect(await statusOf()).toBeNull();
    return said;
  };

  it('is refused when no device can be updated, and says why', async () => {
    configure({ groups: [{ name: 'lobby', members: ['museum/lobby-*'] }] });
    appear('kiosk-3', IDLE);
    expect(await refused('--group', 'lobby')).toContain(
      'no device in group lobby can be updated: the broker has no state of a device',
    );
    configure({ allow: ['museum/kiosk-1', 'museum/kiosk-2'] });
    appear('kiosk-1', null);
    appear('kiosk-2', null);
    expect(await refused()).toContain('all 2 devices have no updater; install the package dragoman there');
    configure({});
    expect((await rollout('start', '1.3.0')).code).toBe(0);
  });

  describe('with the address of a repository', () => {
    let server: Server;
    let at: string;
    beforeEach(async () => {
      const root = publish(['1.2.0-1', '1.3.0-1']);
      server = createServer(({ url = '' }, response) => {
        if (url.startsWith('/closed/')) return void response.writeHead(401).end();
        if (url.startsWith('/cut/')) return void response.destroy();
        const name = join(root, url);
        if (existsSync(name)) response.end(readFileSync(name));
        else response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      appear('kiosk-1', IDLE);
    });
    afterEach(() => server.close());
    const LIST = 'dists/stable/InRelease';

    it.each(['http', 'file'])(
      'begins with a version that is there, and refuses others (%s)',
      async (scheme) => {
        const address = scheme === 'http' ? `${at}/${LIST}` : `file://${folder}/repository/${LIST}`;
        const missing = await rollout('start', '1.4.0', '--manifest-url', address);
        expect(missing).toMatchObject({
          code: 2,
          said: expect.stringContaining(
            `<version>: 1.4.0 is not in the signed index of ${address}, which has 1.2.0, 1.3.0;`,
          ),
        });
        expect(await statusOf()).toBeNull();
        const begun = await rollout('start', '1.3.0', '--manifest-url', address);
        expect(begun.code).toBe(0);
        expect(begun.said).not.toContain('not checked');
        const store = openKeptConsoleStore({ path: join(folder, 'store.db'), url: null, passwordFile: null });
        const [line] = await store.audit({ what: 'rollout.start' }, 1);
        await store.close();
        expect(JSON.parse(line?.args ?? '')).toMatchObject({ group: null, manifest_url: address });
      },
    );

    it('asks the address and not releases.path, which other devices use', async () => {
      configure({ metrics: { listen: '127.0.0.1:0' }, releases: { path: publish(['1.3.0-1', '1.4.0-1']) } });
      expect((await rollout('start', '1.4.0', '--manifest-url', `${at}/${LIST}`)).code).toBe(0);
      await rollout('abort');
      const closed = await rollout('start', '1.5.0', '--manifest-url', `${at}/closed/${LIST}`);
      expect(closed.said).toContain('(the server answers 401)');
    });

    it('refuses an address without a list', async () => {
      const address = `${at}/other/${LIST}`;
      expect(await rollout('start', '1.3.0', '--manifest-url', address)).toMatchObject({
        code: 2,
        said: expect.stringContaining(
          `--manifest-url: there is no list at ${address} (the server answers 404)`,
        ),
      });
    });

    it('says that it has not checked what cannot be read here, and begins', async () => {
      const away = await rollout('start', '1.3.0', '--manifest-url', `http://127.0.0.1:1/${LIST}`);
      expect(away).toMatchObject({
        code: 0,
        said: expect.stringMatching(
          /warning: not checked whether the repository has 1\.3\.0: http:\S+ cannot be read from here \(\w+.*\); the first wave stops/,
        ),
      });
      await rollout('abort');
      const closed = `http://127.0.0.1:${await freePort()}/${LIST}`;
      const cut = await rollout('start', '1.3.0', '--manifest-url', `${at}/cut/${LIST}`);
      expect(cut.said).toContain('cannot be read from here (it cut the connection)');
      await rollout('abort');
      const refused = await rollout('start', '1.3.0', '--manifest-url', closed);
      expect(refused.said).toContain('cannot be read from here (nothing listens there)');
      await rollout('abort');
      rmSync(join(folder, 'repository/dists/stable/main/binary-arm64/Packages'));
      const packed = await rollout('start', '1.3.0', '--manifest-url', `${at}/${LIST}`);
      expect(packed.said).toContain('cannot be read from here (the server answers 404)');
      await rollout('abort');
      const none = await rollout('start', '1.3.0', '--manifest-url', `file:///none/${LIST}`);
      expect(none.said).toContain('cannot be read from here (there is no such file or folder)');
      await rollout('abort');
      const own = await rollout('start', '1.3.0');
      expect(own).toMatchObject({
        code: 0,
        said: expect.stringContaining('each device has its own sources'),
      });
    });
  });

  it('is refused when the broker cannot be asked', async () => {
    base.mqtt.url = 'mqtt://127.0.0.1:1';
    configure({});
    expect(await refused()).toMatch(/the broker cannot be asked which devices can be updated \(.+\): check/);
  });
});

const { start } = fixtureOfEachTest();

describe('a running backend', () => {
  it('signs the order, follows the devices of the group, and pauses at a roll-back', async () => {
    const clock = createJumpingClock();
    const { privatePem, publicPem } = createKeyPair();
    const more = { groups: [{ name: 'lobby', members: ['museum/lobby-*'] }] };
    configure(more);
    const fixture = await start({
      clock,
      signingKey: parsePrivateKey(privatePem, 'key.pem'),
      config: { store: { path: join(folder, 'store.db') }, ...more },
    });
    const say = (device: string, noun: string, body: object, retain = true) =>
      fixture.bus.publish(`${PREFIX}/museum/${device}/${noun}`, JSON.stringify({ ts: null, ...body }), {
        retain,
      });
    const tell = (device: string, version: string, boot_id: string, update: object | null) => {
      say(device, 'status', { status: 'ready', version, reasons: [] });
      say(device, 'state', { boot_id, lanes: [], update });
    };
    const none = { state: 'idle', from: null, to: null, reason: null, progress: null };
    tell('lobby-1', '1.2.0', 'b1', none);
    tell('hall-1', '1.2.0', 'b1', none);
    tell('lobby-2', '1.2.0', 'b1', null);
    base.mqtt.url = fixture.brokerUrl;
    configure(more);
    await rollout('start', '1.3.0', '--waves', '100%', '--group', 'lobby');
    const orders = () => fixture.witness.messages.filter(({ topic }) => topic.endsWith('/cmd/update'));
    const soon = (what: () => Promise<unknown>) =>
      expect.poll(async () => {
        clock.jump(6000);
        return what();
      });
    await soon(async () => orders().length).toBe(1);
    const [order] = orders();
    expect(order?.topic).toBe(`${PREFIX}/museum/lobby-1/cmd/update`);
    const { id, jws } = JSON.parse(order?.payload ?? '');
    const [head, body, signature] = jws.split('.');
    expect(
      verify(
        null,
        Buffer.from(`${head}.${body}`),
        createPublicKey(publicPem),
        Buffer.from(signature, 'base64url'),
      ),
    ).toBe(true);
    const signed = JSON.parse(Buffer.from(body, 'base64url').toString());
    expect(signed).toMatchObject({
      id,
      cmd: 'update',
      args: { version: '1.3.0' },
      device: `${PREFIX}/museum/lobby-1`,
    });
    say('lobby-1', 'cmd/update/res', { id, status: 'ok', data: {} }, false);
    tell('lobby-1', '1.3.0', 'b2', { ...none, state: 'confirming', from: '1.2.0', to: '1.3.0' });
    await soon(statusOf).toMatchObject({
      devices: 1,
      without_updater: 1,
      ordered: 1,
      under_way: 1,
      driven: true,
    });
    const reason = 'version 1.3.0 was rolled back: it ended 3 times within 40 s';
    tell('lobby-1', '1.2.0', 'b3', { ...none, state: 'rolled_back', from: '1.2.0', to: '1.3.0', reason });
    await soon(statusOf).toMatchObject({
      state: 'paused',
      rolled_back: 1,
      reason: `museum/lobby-1: ${reason}`,
    });
    expect((await rollout('status')).said).toContain(`reason museum/lobby-1: ${reason}`);
    expect(fixture.lines.join('')).toContain('the roll-out paused because of one device');
    expect(orders()).toHaveLength(1);
  });

  it('is neither hurried nor stopped by one device that claims what it likes', async () => {
    const clock = createJumpingClock();
    configure({});
    const fixture = await start({ clock, config: { store: { path: join(folder, 'store.db') } } });
    const say = (device: string, noun: string, body: object, retain: boolean) =>
      fixture.bus.publish(`${PREFIX}/museum/${device}/${noun}`, JSON.stringify({ ts: null, ...body }), {
        retain,
      });
    const tell = (device: string, version: string, boot_id: string, update: object, lost = 0) => {
      const lanes = [{ id: 'main', phase: 'live', speech_lost_ms: lost, unspoken_ms: 0 }];
      say(device, 'status', { status: 'ready', version, reasons: [] }, true);
      say(device, 'state', { boot_id, lanes, update }, true);
    };
    const none = { state: 'idle', from: null, to: null, reason: null, progress: null };
    const done = { ...none, state: 'done', from: '1.2.0', to: '1.3.0' };
    for (let index = 0; index < 10; index += 1) tell(`kiosk-${index}`, '1.2.0', 'b1', none);
    base.mqtt.url = fixture.brokerUrl;
    configure({});
    await rollout('start', '1.3.0', '--waves', '30%,100%');
    const ordered = () => {
      const topics = fixture.witness.messages.map(({ topic }) => topic);
      return [...new Set(topics.flatMap((topic) => /museum\/(.*)\/cmd\/update$/.exec(topic)?.[1] ?? []))];
    };
    const soon = (what: () => Promise<unknown>) =>
      expect.poll(async () => {
        clock.jump(6000);
        return what();
      });
    await soon(async () => ordered()).toHaveLength(3);
    const [hostile = '', ...honest] = ordered();
    for (const device of ordered()) tell(device, '1.3.0', 'b2', done);
    await soon(statusOf).toMatchObject({ live: 3, wave: 1 });
    for (let count = 0; count < 200; count += 1)
      say(hostile, 'event/conversation_ended', { lane: 'main', duration_s: 1, billed_s: 1e9 }, false);
    for (let boot = 0; boot < 5; boot += 1) tell(hostile, '1.3.0', `made-up-${boot}`, done, 1e11);
    await soon(statusOf).toMatchObject({ implausible: [`museum/${hostile}`] });
    expect(await statusOf()).toMatchObject({ state: 'running', wave: 1, conversations: 0, reason: null });
    expect((await rollout('status')).said).toContain(`doubtful museum/${hostile}: implausible reports`);
    tell(hostile, '1.2.0', 'b9', { ...done, state: 'rolled_back', reason: 'I say so' });
    await soon(statusOf).toMatchObject({ state: 'paused', reason: `museum/${hostile}: I say so` });
    await rollout('resume');
    for (const device of honest) tell(device, '1.2.0', 'b3', { ...done, state: 'rolled_back', reason: null });
    await soon(statusOf).toMatchObject({ state: 'stopped', rolled_back: 3 });
    expect(ordered()).toHaveLength(3);
  });
});
