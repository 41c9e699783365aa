import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const adapter = (path: string): string =>
  JSON.stringify(fileURLToPath(new URL(`../../../../src/adapters/${path}`, import.meta.url)));

/**
 * Builds a process that records with the command in its arguments, for tests that must kill or confine it. It prints `heard` for
 * its first sound, and each fault.
 */
export async function buildAgent(folder: string): Promise<string> {
  const agent = join(folder, 'agent.mjs');
  await build({
    stdin: {
      contents: `import { createCommandCapture } from ${adapter('audio/drivers/command-driver.ts')};
        import { createSystemClock } from ${adapter('clock.ts')};
        const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
        const deps = { clock: createSystemClock(), log };
        let silent = true;
        createCommandCapture({ command: process.argv.slice(2), rateHz: 16000, seed: 1, deps })({
          frames() { if (silent) console.log('heard'); silent = false; },
          ended() {},
          fault(fault) { console.log(fault.message); },
        });`,
      resolveDir: folder,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile: agent,
    external: ['@alexanderolsen/libsamplerate-js'],
    logLevel: 'error',
  });
  return agent;
}
