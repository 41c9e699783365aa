import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import type { PhraseCode } from '../src/core/provisioning/phrases.ts';
import { onceARun } from './once-a-run.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PROGRAM = 'phrases.mjs';
/** Of what a kiosk says: good news and bad ones, short and long ones. */
export const FEW: readonly PhraseCode[] = [
  'applied',
  'ready',
  'no_network',
  'no_microphone',
  'wifi_password_wrong',
  'key_unreadable',
];

/** All that says which phrases there are. */
const onlyFew = (codes: readonly PhraseCode[]): Plugin => ({
  name: 'only-few',
  setup({ onLoad }) {
    onLoad({ filter: /provisioning\/phrases\.ts$/ }, async ({ path }) => {
      const [before, after, ...more] = (await readFile(path, 'utf8')).split('Object.keys(PHRASES)');
      if (after === undefined || more.length > 0) throw new Error(`${path} lists its phrases in another way`);
      return { contents: `${before}${JSON.stringify(codes)}${after}`, loader: 'ts' };
    });
  },
});

/**
 * What `scripts/build-phrases` does, for a few of the phrases in each language: all of them take seconds.
 * @param folder for its program
 * @returns what it said
 */
export async function makePhrasesOf(
  codes: readonly PhraseCode[],
  { folder, out, env = {} }: { folder: string; out: string; env?: object },
): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['scripts/phrases/main.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    plugins: [onlyFew(codes)],
  });
  const program = join(folder, PROGRAM);
  await writeFile(program, outputFiles[0]?.contents ?? '');
  const call = `import(${JSON.stringify(pathToFileURL(program))}).then(async ({ runPhrases }) => {
    process.exitCode = await runPhrases(['--out', process.argv[1]], '/nowhere');
  })`;
  const words = ['--eval', call, out];
  return (await promisify(execFile)(process.execPath, words, { env: { PATH: process.env['PATH'], ...env } }))
    .stdout;
}

/** The folder of `FEW`, made once in a run, and what was said of them. */
export async function fewPhrases(): Promise<{ folder: string; said: string }> {
  const made = await onceARun('few-phrases', async (folder) => {
    const said = await makePhrasesOf(FEW, { folder, out: join(folder, 'phrases') });
    await writeFile(join(folder, 'said'), said);
  });
  return { folder: join(made, 'phrases'), said: await readFile(join(made, 'said'), 'utf8') };
}
