import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { type LedgerEntry, StoreDown } from '../../../src/ports/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-full-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ALWAYS = [0, 8_000_000_000_000] as const;
const line = (index: number): LedgerEntry => ({
  id: `given/s${index}`,
  device: 'museum/a',
  lane: 'main',
  session: `s${index}`,
  source: 'backend',
  ms: 1000,
});

it('says that the disk is full, keeps every confirmed line, and goes on when there is room', async () => {
  const engine = createSqliteEngine(join(folder, 'store.db'));
  const store = createSqlStore(engine);
  await store.open();
  const limit = (pages: number) =>
    engine.transact(null, (sql) => sql.query(`PRAGMA max_page_count = ${pages}`));
  // SQLite refuses to make the file longer, as on a full disk.
  await limit(1);
  let confirmed = 0;
  let failure: unknown = null;
  while (failure === null && confirmed < 100_000) {
    try {
      await store.append(line(confirmed));
      confirmed += 1;
    } catch (error) {
      failure = error;
    }
  }
  expect(failure).toBeInstanceOf(StoreDown);
  expect(String(failure)).toMatch(/store\.db cannot be used: the disk is full: make room/);
  expect(confirmed).toBeGreaterThan(0);
  expect(await store.sums(...ALWAYS)).toMatchObject([{ sessions: confirmed }]);
  await limit(1_000_000);
  expect(await store.append(line(confirmed))).toBe(true);
  await store.close();
  const again = createSqlStore(createSqliteEngine(join(folder, 'store.db')));
  expect(await again.sums(...ALWAYS)).toMatchObject([{ sessions: confirmed + 1 }]);
  await again.close();
});
