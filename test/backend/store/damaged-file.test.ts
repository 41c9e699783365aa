/** The file of SQLite while a backend runs: damaged, full, taken away. What was written is never lost by the backend. */
import { closeSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { dump, load } from '../../../src/backend/store/copy.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { type LedgerEntry, StoreRefused } from '../../../src/ports/store.ts';
import { errorOf, fixtureOfEachTest, PREFIX, sessionOf } from '../backend-on-loopback.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-damaged-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { start, sessionsAtService } = fixtureOfEachTest();

const PAGE = 4096;
const ALWAYS = [0, 8_000_000_000_000] as const;
const line = (index: number): LedgerEntry => ({
  id: `given/s${index}`,
  device: 'museum/a',
  lane: 'main',
  session: `s${index}`,
  source: 'backend',
  ms: 1000,
});

it('a damaged file denies sessions and says what to do; a backup still saves what was written', async () => {
  const path = join(folder, 'damaged.db');
  const engine = createSqliteEngine(path);
  const store = createSqlStore(engine);
  for (let index = 0; index < 20; index += 1) await store.append(line(index));
  const [page] = await engine.transact(null, (sql) =>
    sql.query("SELECT rootpage FROM sqlite_schema WHERE name = 'session_device'"),
  );
  await store.close();
  const fixture = await start({ config: { store: { path }, metrics: { listen: '127.0.0.1:0' } } });
  // An index that the backend has not read yet.
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(PAGE, 0xa5), 0, PAGE, (Number(page?.['rootpage']) - 1) * PAGE);
  closeSync(file);

  expect(errorOf(await fixture.ask('kiosk', 'r1'))).toMatchObject({ code: 'store_unavailable' });
  expect(fixture.lines.join('')).toMatch(
    /damaged\.db cannot be used: the file is damaged or is not a store: restore a backup/,
  );
  expect(sessionsAtService().filter(({ revoked }) => !revoked)).toEqual([]);
  const told = await (await fetch(`${fixture.backend.watchedAt}/metrics`)).text();
  expect(told).toMatch(/^dragoman_backend_store_failures_total\{why="refused"\} [1-9]/m);
  await fixture.backend.close();

  const lines: string[] = [];
  const damaged = createSqliteEngine(path);
  await dump(damaged, (text) => lines.push(text));
  await damaged.close();
  const whole = createSqliteEngine(join(folder, 'whole.db'));
  await load(whole, lines);
  const restored = createSqlStore(whole);
  expect(await restored.sums(...ALWAYS)).toMatchObject([{ device: 'museum/a', sessions: 20 }]);
  await restored.close();
});

it('a full disk denies sessions, and a report that comes meanwhile is in the ledger when there is room', async () => {
  const engine = createSqliteEngine(join(folder, 'full.db'));
  const store = createSqlStore(engine);
  const limit = (pages: number) =>
    engine.transact(null, (sql) => sql.query(`PRAGMA max_page_count = ${pages}`));
  const fixture = await start({ store: () => store });
  const { id } = sessionOf(await fixture.ask('kiosk', 'r1'));
  // SQLite refuses to make the file longer, as on a full disk.
  await limit(1);
  await expect(
    (async () => {
      for (let index = 0; index < 100_000; index += 1) await store.append(line(index));
    })(),
  ).rejects.toThrow(/the disk is full: make room/);
  expect(errorOf(await fixture.ask('kiosk', 'r2')).code).toBe('store_unavailable');
  expect(fixture.lines.join('')).toMatch(/full\.db cannot be used: the disk is full: make room/);
  const failed = () => fixture.lines.filter((text) => text.includes('the disk is full')).length;
  const before = failed();
  const report = { ts: null, lane: 'main', session: `${id.slice(0, 8)}...`, cause: 'stopped', live_ms: 9000 };
  fixture.bus.publish(`${PREFIX}/museum/kiosk/event/session_ended`, JSON.stringify(report));
  await expect.poll(failed).toBeGreaterThan(before);
  await limit(1_000_000);
  const told = async () => (await store.sums(...ALWAYS)).find(({ device }) => device === 'museum/kiosk');
  await expect.poll(told).toMatchObject({ sessions: 1, ms: 9000, implausible: 0 });
});

it('a file that is taken away takes no more lines, and goes on when it is put back', async () => {
  const path = join(folder, 'moved.db');
  const store = createSqlStore(createSqliteEngine(path));
  await store.append(line(1));
  renameSync(path, `${path}.away`);
  const error = await store.append(line(2)).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(StoreRefused);
  expect(String(error)).toMatch(
    /moved\.db was moved, deleted or replaced while the program ran: put the file back/,
  );
  renameSync(`${path}.away`, path);
  expect(await store.append(line(2))).toBe(true);
  expect(await store.sums(...ALWAYS)).toMatchObject([{ sessions: 2 }]);
  await store.close();
});
