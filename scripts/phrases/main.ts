import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PHRASE_CODES, PHRASE_LANGUAGES } from '../../src/installer/core/phrases.ts';
import { makePhrases } from './synthesis.ts';

const USAGE = `Usage: scripts/build-phrases [--out <folder>]

Makes the sounds of the phrases that a kiosk speaks at boot, LANGUAGE/CODE.wav, with espeak-ng and sox. The same
versions of these give the same bytes. scripts/build-deb calls it for the package dragoman.

Options:
  --out <folder>  folder for the sounds (default: phrases)
  -h, --help      this text
`;

/** @returns the exit code */
export async function runPhrases(argv: readonly string[], root: string): Promise<number> {
  let out: string;
  try {
    const options = { out: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    const { values } = parseArgs({ args: [...argv], options });
    if (values.help) {
      process.stdout.write(USAGE);
      return 0;
    }
    out = values.out ?? join(root, 'phrases');
  } catch (error) {
    return complain(error, 2);
  }
  try {
    await makePhrases(out);
  } catch (error) {
    return complain(error, 1);
  }
  const sizes = PHRASE_LANGUAGES.map((language) => {
    const files = readdirSync(join(out, language));
    const bytes = files.reduce((sum, file) => sum + statSync(join(out, language, file)).size, 0);
    return { language, bytes };
  });
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const each = sizes.map(({ language, bytes }) => `${language} ${kB(bytes)}`).join(', ');
  process.stdout.write(
    `${PHRASE_CODES.length} phrases in ${sizes.length} languages: ${kB(total)} (${each})\n`,
  );
  return 0;
}

const kB = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;

function complain(error: unknown, code: number): number {
  process.stderr.write(`build-phrases: ${error instanceof Error ? error.message : String(error)}\n`);
  return code;
}
