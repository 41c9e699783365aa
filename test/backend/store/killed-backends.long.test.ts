/** Two backends as programs, 200 times one of them is killed, on both databases. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { placeBundles } from '../../bundles.ts';
import { onBothStores } from './both-stores.ts';
import { killBackends } from './killed-backends.ts';

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-killed-'));
  await placeBundles(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

onBothStores((maker) => {
  it('make one session for each request, and leave none, after 200 kills', { timeout: 3_600_000 }, async ({
    skip,
  }) => {
    const { config } = await maker.make();
    const plan = { kills: 200, devices: 12, impatient: 0.15, mostStallMs: 1000 };
    const { isJudged, note } = await killBackends(config, folder, plan);
    process.stderr.write(`${note}\n`);
    if (!isJudged) skip(`the machine was too busy: ${note}`);
  });
});
