/** Two backends as programs, many times one of them is killed, on both databases. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { placeBundles } from '../../bundles.ts';
import { onBothStores } from './both-stores.ts';
import { killBackends } from './killed-backends.ts';

/** 200 before a release. */
const KILLS = Number(process.env['DRAGOMAN_KILLS'] ?? 40);

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-killed-'));
  await placeBundles(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

onBothStores((maker) => {
  it(`make one session for each request, and leave none, after ${KILLS} kills`, {
    timeout: 3_600_000,
  }, async ({ skip }) => {
    const { config } = await maker.make();
    const plan = { kills: KILLS, devices: 12, impatient: 0.15, areTimesJudged: true };
    const { isJudged, note } = await killBackends(config, folder, plan);
    process.stderr.write(`${note}\n`);
    if (!isJudged) skip(`the machine was too busy: ${note}`);
  });
});
