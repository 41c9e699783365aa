/** The ledger and its bill, on both databases. */

import { EventEmitter } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import type { LedgerEntry } from '../../../src/ports/store.ts';
import { gather } from '../../gathered.ts';
import { fixtureOfEachTest, PREFIX, sessionOf } from '../backend-on-loopback.ts';
import { deviceSum } from '../bill/bill-lines.ts';
import { onBothStores } from './both-stores.ts';
import { killWriters } from './killed-writer.ts';
import { PASSWORD } from './postgres-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-ledger-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const given = (session: string, ms: number, device = 'museum/a'): LedgerEntry => ({
  id: `given/${session}`,
  device,
  lane: 'main',
  session,
  source: 'backend',
  ms,
});
const told = (session: string, ms: number, device = 'museum/a'): LedgerEntry => ({
  id: `device/${session}`,
  device,
  lane: 'main',
  session,
  source: 'device',
  ms,
});
const ALWAYS = [0, 8_000_000_000_000] as const;
const KILLS = 2;

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  chmodSync(file, 0o600);
  return file;
}

async function bill(store: object, more: object, ...words: string[]) {
  const { said, print, complain } = gather();
  const config = {
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    service: { url: 'http://127.0.0.1:1', streamUrl: 'wss://stream.example' },
    allow: ['museum/*'],
    store: { ...store, ...('url' in store && { passwordFile: write('password', PASSWORD) }) },
    ...more,
  };
  const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
  const argv = ['bill', '--config', write('c.json', JSON.stringify(config)), ...words];
  const code = await runBackendProgram(argv, {
    env: {},
    output,
    signals: new EventEmitter(),
    print,
    complain,
  });
  return { code, ...said };
}

onBothStores((maker) => {
  const { start } = fixtureOfEachTest();

  it('sums what each device reports, and never more than possible', async () => {
    const store = (await maker.make()).store();
    for (const entry of [
      given('s1', 600_000),
      told('s1', 300_000),
      given('s2', 600_000),
      told('s2', 120_000),
      // Longer than the session could last.
      given('s3', 600_000),
      told('s3', 900_000_000),
      given('s4', 600_000),
      given('s5', 600_000),
      // No backend gave this one.
      told('made-up', 500_000),
      given('s6', 600_000, 'museum/b'),
      told('s6', 60_100, 'museum/b'),
      given('s7', Number.POSITIVE_INFINITY, 'museum/b'),
    ])
      expect(await store.append(entry)).toBe(true);
    expect(await store.sums(...ALWAYS)).toEqual([
      deviceSum('museum/a', {
        sessions: 5,
        ms: 1_020_000,
        unreported: 2,
        unreportedMs: 1_200_000,
        implausible: 2,
      }),
      deviceSum('museum/b', { sessions: 2, ms: 60_100, unreported: 1, unreportedMs: null }),
    ]);
    expect(await store.sums(0, 1000)).toEqual([]);
  });

  it('writes the same occurrence once, and changes and deletes nothing', async () => {
    const database = await maker.make();
    const stores = [database.store(), database.store()];
    const twice = await Promise.all(stores.map((store) => store.append(told('s1', 5))));
    expect(twice.sort()).toEqual([false, true]);
    const engine = database.engine();
    for (const act of ['UPDATE ledger SET ms = 1', 'DELETE FROM ledger'])
      await expect(engine.transact(null, (sql) => sql.query(act))).rejects.toThrow(/append-only/);
    await engine.close();
  });

  it('counts a stream once that a device reports again, in the month of its end', async () => {
    const database = await maker.make();
    const fixture = await start({ config: { store: database.config }, storePassword: PASSWORD });
    const { id } = sessionOf(await fixture.ask('kiosk', 'r1'));
    const report = {
      ts: '2026-11-27T12:00:00.000Z',
      lane: 'main',
      session: `${id.slice(0, 8)}...`,
      cause: 'stopped',
      live_ms: 90_000,
    };
    const topic = `${PREFIX}/museum/kiosk/event/session_ended`;
    for (const body of [report, report, { ...report, live_ms: 'much' }, { ...report, live_ms: -5, ts: null }])
      fixture.bus.publish(topic, JSON.stringify(body));
    const store = database.store();
    await expect
      .poll(() => store.sums(...ALWAYS))
      .toEqual([
        // The last two cannot be true.
        deviceSum('museum/kiosk', { sessions: 1, ms: 90_000, implausible: 2 }),
      ]);
    expect(fixture.lines.join('')).toMatch(
      /"device":"museum\/kiosk","kind":"session_ended","why":"it cannot be read: live_ms".*counted and not written/,
    );
  });

  it('prints the bill of this month', async () => {
    const { config, engine, store } = await maker.make();
    const opened = store();
    await opened.append(given('a', 1_800_000, 'museum/desk'));
    await opened.append(told('a', 600_000, 'museum/desk'));
    const month = new Date().toISOString().slice(0, 7);
    expect(await bill(config, {}, '--month', month)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^museum\/desk {2}10 min in 1 session; month's end: .* min$/m),
    });
    if (!('url' in config)) return;
    // An open connection would keep the program from ending.
    await opened.close();
    const own = engine();
    const others =
      'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    await expect.poll(() => own.transact(null, (sql) => sql.query(others))).toEqual([]);
    await own.close();
  });

  it('has every line that was confirmed, once, after kill -9 at any moment', async () => {
    const database = await maker.make();
    const confirmed = await killWriters(database.config, KILLS, folder);
    const sums = await database.store().sums(...ALWAYS);
    // A line may be written and the writer killed before it could say so: one for each kill.
    const lines = sums.reduce((total, { ms }) => total + ms / 1000, 0);
    expect(lines).toBeGreaterThanOrEqual(confirmed);
    expect(lines).toBeLessThanOrEqual(confirmed + KILLS);
  });
});

describe('dragoman-backend bill', () => {
  it('says what to set when there is no store', async () => {
    expect(await bill({}, {}, '--month', '2026-11')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/names no store: set store\.path or store\.url/),
    });
  });
});
