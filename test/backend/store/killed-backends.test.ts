/** Two backends as programs: one is killed under load, and one leaves under load. */
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
  it('make one session for each request when one is killed and one leaves', async () => {
    const { config } = await maker.make();
    await killBackends(config, folder, { kills: 1, devices: 10, impatient: 0.1, areTimesJudged: false });
  });
});
