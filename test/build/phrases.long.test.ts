import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MENU_LANGUAGES } from '../../src/device/menu/menu-sounds.ts';
import { PHRASE_CODES } from '../../src/installer/core/phrases.ts';
import { describePhrases } from './made-phrases.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

async function make(out: string, env: object): Promise<string> {
  const words = ['--out', out];
  const surroundings = { PATH: process.env['PATH'], ...env };
  return (await promisify(execFile)('scripts/build-phrases', words, { cwd: ROOT, env: surroundings })).stdout;
}

describePhrases({
  codes: PHRASE_CODES,
  voices: MENU_LANGUAGES,
  async first(place) {
    const folder = join(place, 'first');
    return { folder, said: await make(folder, { TZ: 'UTC', LC_ALL: 'C' }) };
  },
  again: {
    codes: PHRASE_CODES,
    async make(place, env) {
      const out = join(place, 'second');
      await make(out, env);
      return out;
    },
  },
});
