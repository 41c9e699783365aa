import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { PASSWORD } from './postgres-server.ts';

const SOURCE = fileURLToPath(new URL('./ledger-writer.ts', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** Lines that each writer has confirmed before it is killed, at least. */
const LINES_EACH = 3;

/**
 * Starts and kills writers of one ledger, one after the other.
 * @returns the number of lines that they have confirmed
 */
export async function killWriters(config: object, kills: number, folder: string): Promise<number> {
  const program = join(folder, 'writer.mjs');
  if (!existsSync(program)) {
    await build({
      entryPoints: [SOURCE],
      outfile: program,
      packages: 'external',
      logLevel: 'warning',
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
    });
    symlinkSync(PACKAGES, join(folder, 'node_modules'));
  }
  let confirmed = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const child = spawn(process.execPath, [program, JSON.stringify(config), `writer-${kill}`, PASSWORD]);
    let said = '';
    let failure = '';
    child.stdout.on('data', (part) => {
      said += String(part);
    });
    child.stderr.on('data', (part) => {
      failure += String(part);
    });
    const ended = once(child, 'close');
    while (said.split('\n').length <= LINES_EACH && child.exitCode === null) await sleep(5);
    if (child.exitCode !== null) throw new Error(failure);
    // Any moment of a write: they take about a millisecond.
    await sleep((kill * 37) % 90);
    child.kill('SIGKILL');
    await ended;
    confirmed += Number(said.trim().split('\n').at(-1) ?? 0);
  }
  return confirmed;
}
