import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MENU_LANGUAGES, MENU_SOUNDS } from '../../src/device/menu/menu-sounds.ts';
import { PHRASE_CODES, PHRASE_LANGUAGES } from '../../src/installer/core/phrases.ts';
import { MENU_FOLDER, makePhrases } from './synthesis.ts';

const USAGE = `Usage: scripts/build-phrases [--out <folder>]

Makes the sounds of the phrases that a kiosk speaks at boot, LANGUAGE/CODE.wav, and those of the spoken menu,
menu/LANGUAGE/SOUND.wav, with espeak-ng and sox. The same versions of these give the same bytes. scripts/build-deb
calls it for the package dragoman.

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
  const phrases = sizesIn(out, PHRASE_LANGUAGES);
  const menu = sizesIn(join(out, MENU_FOLDER), MENU_LANGUAGES);
  process.stdout.write(
    `${PHRASE_CODES.length} phrases ${phrases}\n${MENU_SOUNDS.length} sounds of the menu ${menu}\n`,
  );
  return 0;
}

/** "in 2 languages: 5 kB (en 2 kB, de 3 kB)" */
function sizesIn(folder: string, languages: readonly string[]): string {
  const sizes = languages.map((language) => {
    const files = readdirSync(join(folder, language));
    return files.reduce((sum, file) => sum + statSync(join(folder, language, file)).size, 0);
  });
  const each = languages.map((language, index) => `${language} ${kB(sizes[index] ?? 0)}`).join(', ');
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
  return `in ${languages.length} languages: ${kB(total)} (${each})`;
}

const kB = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;

function complain(error: unknown, code: number): number {
  process.stderr.write(`build-phrases: ${error instanceof Error ? error.message : String(error)}\n`);
  return code;
}
