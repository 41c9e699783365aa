import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, onTestFinished, test } from 'vitest';
import { watchTurns } from '../stalls.ts';
import { sentence, task } from './core/harness.ts';
import { chunks } from './core/voice.ts';
import { open, start } from './started-emulator.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HZ = 24_000;

/** Builds the thread's code as the emulator's bundle includes it. */
export async function buildThread(folder: string): Promise<URL> {
  const outfile = join(folder, 'emulator-worker.mjs');
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/emulator/threads/emulator-worker.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: {
      js: `import { createRequire as r } from 'node:module'; import { dirname as d } from 'node:path'; import { fileURLToPath as f } from 'node:url';
const require = r(import.meta.url); const __filename = f(import.meta.url); const __dirname = d(__filename);`,
    },
  });
  copyFileSync(join(ROOT, 'node_modules/@echogarden/fvad-wasm/fvad.wasm'), join(folder, 'fvad.wasm'));
  return pathToFileURL(outfile);
}

/** Checks that many streams at once do not delay other clients. */
export function describeCrowd(streams: number): void {
  describe(`${streams} streams with four languages each`, () => {
    test('do not block the event loop', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'emulator-threads-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const thread = await buildThread(folder);
      const emulator = await start({ threads: thread, tooFast: 'tolerate', concurrent: 2 * streams });
      const clients = await Promise.all(Array.from({ length: streams }, () => open(emulator)));
      for (const client of clients) client.send('set_task', task({}, ['es', 'de', 'fr', 'it']));
      const turns = watchTurns();
      for (const client of clients) for (const chunk of chunks(sentence(3), HZ)) client.audio(chunk);
      for (const client of clients) client.send('end_task', { eos_timeout: 30 });
      await Promise.all(clients.map(({ closed }) => closed));
      const longestMs = turns.longestMs();
      turns.close();
      expect(emulator.reports().map(({ segments }) => segments)).toEqual(Array(streams).fill(1));
      expect(Math.min(...clients.map((client) => client.sound().length))).toBeGreaterThan(4 * 2.5 * HZ * 2);
      expect(longestMs, 'the longest turn of the event loop, milliseconds').toBeLessThan(1500);
    });
  });
}
