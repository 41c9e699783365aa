/** A device with a valid login reports what no store can hold, and without end: at a real mosquitto, on both databases. */
import { EventEmitter } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { connectAsync } from 'mqtt';
import { afterAll, afterEach, expect, it } from 'vitest';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { dump } from '../../../src/backend/store/copy.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { type Store, StoreDown } from '../../../src/ports/store.ts';
import { findMosquitto, type Mosquitto, startMosquitto } from '../../adapters/mqtt/mosquitto.ts';
import { gather } from '../../gathered.ts';
import { needs } from '../../needs.ts';
import { errorOf, fixtureOfEachTest, PREFIX, sessionOf } from '../backend-on-loopback.ts';
import { onBothStores } from '../store/both-stores.ts';
import { PASSWORD } from '../store/postgres-server.ts';

const command = findMosquitto();
const ROOT_USER = process.getuid?.() === 0 ? ['user root'] : [];
const ALWAYS = [0, 8_000_000_000_000] as const;
/** More than a broker delivers without an acknowledgement, by its default. */
const WINDOW = 20;
/** Far more than the limits allow. */
const MANY = 3000;
const AT_ONCE = 100;

const folder = mkdtempSync(join(tmpdir(), 'dragoman-reports-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const brokers: Mosquitto[] = [];
afterEach(async () => {
  for (const broker of brokers.splice(0)) await broker.close();
});

const ended = (live_ms: number | string, more: object = {}): string =>
  JSON.stringify({ ts: null, lane: 'main', session: 'abcdefgh...', cause: 'stopped', live_ms, ...more });
const talked = (index: number): string =>
  JSON.stringify({
    ts: null,
    lane: 'main',
    duration_s: 60,
    languages: ['en'],
    sentences: index,
    delay_ms: 800,
    billed_s: 60,
  });

if (command === null) it('hostile reports (skipped without mosquitto)', needs('needs mosquitto'), () => {});
else
  onBothStores((maker) => {
    const { start } = fixtureOfEachTest();
    const open = async (wrap: (store: Store) => Store = (store) => store) => {
      const broker = await startMosquitto(command, () => [...ROOT_USER, 'allow_anonymous true']);
      brokers.push(broker);
      const database = await maker.make();
      const config = { store: database.config, console: { listen: '127.0.0.1:0' } };
      const fixture = await start({
        brokerUrl: broker.url,
        config,
        storePassword: PASSWORD,
        serviceTimeout: 60,
        store: () => wrap(createSqlStore(database.engine())),
      });
      const mqtt = await connectAsync(broker.url, { protocolVersion: 5 });
      const say = (kind: string, payload: string, device = 'hostile') =>
        mqtt.publishAsync(`${PREFIX}/museum/${device}/event/${kind}`, payload, { qos: 1 });
      return { database, fixture, say, close: () => mqtt.endAsync() };
    };

    it('answers the next request after reports that no store can hold, and bills and saves', async () => {
      const { database, fixture, say, close } = await open();
      sessionOf(await fixture.ask('hostile', 'r1'));
      for (let index = 0; index < 2 * WINDOW; index += 1) {
        await say('session_ended', ended(9e18, { session: `s${index}...` }));
        await say('session_ended', ended(1e19, { session: `s${index}...` }));
        await say('session_ended', ended(5, { lane: '\0' }));
        await say('session_ended', ended(1e16));
        await say('conversation_ended', talked(1e300));
      }
      sessionOf(await fixture.ask('honest', 'r1'));
      const { id } = sessionOf(await fixture.ask('honest', 'r2', { attempt: 2, reason: 'network' }));
      await say('session_ended', ended(4000, { session: `${id.slice(0, 8)}...` }), 'honest');
      await expect
        .poll(async () => (await database.store().sums(...ALWAYS)).map(({ device, ms }) => [device, ms]))
        .toEqual([
          ['museum/honest', 4000],
          ['museum/hostile', 0],
        ]);
      await expect
        .poll(async () => (await database.store().sums(...ALWAYS))[1]?.implausible)
        .toBeGreaterThan(4 * WINDOW);
      const engine = database.engine();
      await expect(dump(engine, () => {})).resolves.toBeGreaterThan(3);
      await engine.close();
      await expect(bill(database.config)).resolves.toMatch(/museum\/hostile .*implausible/);
      // Not the store is to blame.
      expect(fixture.lines.join('')).not.toContain('the store cannot be used');
      await close();
    });

    it('keeps few rows of a device that reports without end, and lets no other device wait', async () => {
      const { database, fixture, say, close } = await open();
      const { id } = sessionOf(await fixture.ask('hostile', 'r1'));
      let isAnswered = false;
      const flood = async (): Promise<void> => {
        for (let index = 0; index < MANY || !isAnswered; index += AT_ONCE) {
          const some = Array.from({ length: AT_ONCE }, (_, more) => index + more);
          await Promise.all(
            some.flatMap((number) => [
              say('session_ended', ended(number, { session: `${id.slice(0, 8)}...` })),
              say('conversation_ended', talked(number)),
            ]),
          );
        }
      };
      const flooding = flood();
      // It does not end before this answer.
      sessionOf(await fixture.ask('honest', 'r1'));
      isAnswered = true;
      await flooding;
      const rows = async () => {
        const engine = database.engine();
        const counts = await engine.transact(null, async (sql) => [
          await sql.query("SELECT count(*) AS count FROM ledger WHERE source = 'device'"),
          await sql.query('SELECT count(*) AS count FROM conversation'),
          await sql.query('SELECT count(*) AS count FROM implausible'),
        ]);
        await engine.close();
        return counts.map(([row]) => Number(row?.['count']));
      };
      await expect
        .poll(async () =>
          (await database.store().sums(...ALWAYS)).find(({ device }) => device === 'museum/hostile'),
        )
        .toMatchObject({ sessions: 1, implausible: expect.any(Number) });
      const [ends = 0, conversations = 0, days = 0] = await rows();
      expect(ends).toBeLessThanOrEqual(1);
      expect(conversations).toBeLessThanOrEqual(60);
      expect(days).toBeLessThanOrEqual(1);
      await close();
    });

    it('writes only the own ends of a device that repeats those of others in its requests', async () => {
      const { database, fixture, close } = await open();
      const sessionFor = async (device: string) =>
        `${sessionOf(await fixture.ask(device, 'r1')).id.slice(0, 8)}...`;
      const [own, theirs] = [await sessionFor('hostile'), await sessionFor('honest')];
      const answers = (device: string) => `${PREFIX}/museum/${device}/token/res`;
      const hostile = await connectAsync(brokers[0]?.url ?? '', { protocolVersion: 5 });
      const recorded: { topic: string; sessions: string[] }[] = [];
      hostile.on('message', (topic, payload) => {
        const { recorded: sessions } = JSON.parse(String(payload));
        if (sessions !== undefined) recorded.push({ topic, sessions });
      });
      await hostile.subscribeAsync([answers('hostile'), answers('honest')]);
      const end = (session: string, live_ms: number, lane = 'main') => ({ lane, session, live_ms });
      const long = '\u{1f600}'.repeat(128);
      const lies: object[][] = [
        [end(theirs, 0), end(own, 1000), end(own, 2000), end(own, 3000, 'other'), end('\ud800', 1)],
        Array.from({ length: 8 }, (_, index) => end(long, 1e11 - index, 'l'.repeat(64))),
        [end(own, 4000)],
      ];
      const repeat = (index: number) =>
        hostile.publishAsync(
          `${PREFIX}/museum/hostile/token/req`,
          fixture.request(`hostile-${index}`, { probe: 'backend', ended: lies[index % 3] }),
          { qos: 1, properties: { responseTopic: answers('honest') } },
        );
      const sums = async () =>
        new Map((await database.store().sums(...ALWAYS)).map((sum) => [sum.device, sum]));
      // As many as are read at once.
      for (let index = 0; index < 6; index += 1) await repeat(index);
      await expect
        .poll(async () => (await sums()).get('museum/hostile'))
        .toMatchObject({ sessions: 1, ms: 1000, unreported: 0, implausible: 2 * 4 + 2 * 8 + 2 });
      await expect.poll(() => recorded).toHaveLength(6);
      for (let index = 6; index < 200; index += 1) await repeat(index);
      sessionOf(await fixture.ask('honest', 'r2', { reason: 'network' }));
      expect((await sums()).get('museum/hostile')).toMatchObject({ ms: 1000, unreported: 0 });
      expect((await sums()).get('museum/honest')).toMatchObject({ ms: 0, unreported: 2, implausible: 0 });
      expect(new Set(recorded.map(({ topic }) => topic))).toEqual(new Set([answers('hostile')]));
      await hostile.endAsync();
      await close();
    });

    it('denies requests at once while the reports of honest devices wait for a store that is down', async () => {
      const world = { isDown: false };
      const { database, fixture, say, close } = await open(
        (store) =>
          new Proxy(store, {
            get(target, key) {
              const value: unknown = Reflect.get(target, key);
              if (typeof value !== 'function' || key === 'close') return value;
              return (...given: unknown[]) =>
                world.isDown ? Promise.reject(new StoreDown('away')) : Reflect.apply(value, target, given);
            },
          }),
      );
      const sessions = new Map<string, string>();
      for (let index = 0; index < WINDOW + 5; index += 1)
        sessions.set(`kiosk-${index}`, sessionOf(await fixture.ask(`kiosk-${index}`, 'r1')).id);
      world.isDown = true;
      for (const [device, id] of sessions)
        await say('session_ended', ended(1000, { session: `${id.slice(0, 8)}...` }), device);
      expect(errorOf(await fixture.ask('new', 'r1'))).toMatchObject({ code: 'store_unavailable' });
      world.isDown = false;
      await expect
        .poll(async () => (await database.store().sums(...ALWAYS)).filter(({ ms }) => ms === 1000).length)
        .toBe(WINDOW + 5);
      await close();
    });
  });

async function bill(store: object): Promise<string> {
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    chmodSync(file, 0o600);
    return file;
  };
  const { said, print, complain } = gather();
  const config = write(
    'c.json',
    JSON.stringify({
      mqtt: { url: 'mqtt://127.0.0.1:1' },
      service: { url: 'http://127.0.0.1:1', streamUrl: 'wss://stream.example' },
      allow: ['museum/*'],
      store: { ...store, ...('url' in store && { passwordFile: write('password', PASSWORD) }) },
    }),
  );
  const month = new Date().toISOString().slice(0, 7);
  const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
  await runBackendProgram(['bill', '--config', config, '--month', month], {
    env: {},
    output,
    signals: new EventEmitter(),
    print,
    complain,
  });
  return said.out + said.err;
}
