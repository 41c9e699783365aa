import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const TUNING = fileURLToPath(new URL('../../src/program/tuning.ts', import.meta.url));

/** Runs code in a separate Node, after the bundled module. */
async function inNode(code: string): Promise<{ stdout: string; stderr: string }> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { compileSooner } from ${JSON.stringify(TUNING)};\n${code}`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
  });
  const script = outputFiles[0]?.text ?? '';
  // Compiled synchronously, so that the count is the same on every machine.
  const flags = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--input-type=module'];
  return run(process.execPath, [...flags, '-e', script]);
}

/** Counts the calls of a function until it is optimised. */
const COUNT = `
  const isCompiled = new Function('f', 'return (%GetOptimizationStatus(f) & 64) !== 0');
  const work = (a, b) => a * b + a - b;
  let calls = 0;
  while (!isCompiled(work) && calls < 1_000_000) work(calls++, 3);
  console.log(calls);
`;

describe('the tuning of V8', () => {
  it('is accepted by this Node without a warning', async () => {
    expect(await inNode('compileSooner(); console.log("on")')).toEqual({ stdout: 'on\n', stderr: '' });
  });

  it('optimises functions sooner', async () => {
    const usual = Number((await inNode(COUNT)).stdout);
    const tuned = Number((await inNode(`compileSooner();${COUNT}`)).stdout);
    expect(usual).toBeLessThan(1_000_000);
    expect(tuned).toBeLessThan(usual / 2);
  });

  it('changes nothing for an unknown version', async () => {
    const usual = await inNode(COUNT);
    expect(await inNode(`compileSooner('99.1');${COUNT}`)).toEqual(usual);
  });
});
