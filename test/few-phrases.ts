import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import type { PhraseCode } from '../src/installer/core/phrases.ts';
import { onceARun } from './once-a-run.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PROGRAM = 'phrases.mjs';
/** A selection of phrases: good and bad news, short and long ones. */
export const FEW: readonly PhraseCode[] = [
  'applied',
  'ready',
  'no_network',
  'no_microphone',
  'wifi_password_wrong',
  'key_unreadable',
];

/** Languages of the menu whose sounds are made. */
export const FEW_VOICES: readonly string[] = ['en', 'zh'];

/** Replaces the lists of phrases, and of the menu's languages, in the source. */
const onlyFew = (codes: readonly PhraseCode[]): Plugin => ({
  name: 'only-few',
  setup({ onLoad }) {
    onLoad({ filter: /installer\/core\/phrases\.ts$/ }, async ({ path }) => {
      const [before, after, ...more] = (await readFile(path, 'utf8')).split('Object.keys(PHRASES)');
      if (after === undefined || more.length > 0)
        throw new Error(`${path} has an unexpected list of phrases`);
      return { contents: `${before}${JSON.stringify(codes)}${after}`, loader: 'ts' };
    });
    onLoad({ filter: /menu\/menu-sounds\.ts$/ }, async ({ path }) => {
      const [before, after, ...more] = (await readFile(path, 'utf8')).split(
        /(?<=MENU_LANGUAGES = )\[[^\]]*\]/,
      );
      if (after === undefined || more.length > 0)
        throw new Error(`${path} has an unexpected list of languages`);
      return { contents: `${before}${JSON.stringify(FEW_VOICES)}${after}`, loader: 'ts' };
    });
  },
});

/**
 * Runs `scripts/build-phrases` for a few phrases in each language, because all of them take seconds.
 * @param folder folder for its program
 * @returns its output
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

/** The folder of `FEW`, made once in a run, and the output of the program. */
export async function fewPhrases(): Promise<{ folder: string; said: string }> {
  const made = await onceARun('few-phrases', async (folder) => {
    const said = await makePhrasesOf(FEW, { folder, out: join(folder, 'phrases') });
    await writeFile(join(folder, 'said'), said);
  });
  return { folder: join(made, 'phrases'), said: await readFile(join(made, 'said'), 'utf8') };
}
