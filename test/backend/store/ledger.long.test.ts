/** The ledger after 200 kills, on both databases. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { onBothStores } from './both-stores.ts';
import { killWriters } from './killed-writer.ts';

const KILLS = 200;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-ledger-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

onBothStores((maker) => {
  it(`has every line that was confirmed, once, after ${KILLS} kills`, { timeout: 3_600_000 }, async () => {
    const database = await maker.make();
    const confirmed = await killWriters(database.config, KILLS, folder);
    const sums = await database.store().sums(0, 8_000_000_000_000);
    const lines = sums.reduce((total, { ms }) => total + ms / 1000, 0);
    expect(lines).toBeGreaterThanOrEqual(confirmed);
    expect(lines).toBeLessThanOrEqual(confirmed + KILLS);
  });
});
