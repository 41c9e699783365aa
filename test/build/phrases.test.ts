import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { FEW, FEW_VOICES, fewPhrases, makePhrasesOf } from '../few-phrases.ts';
import { needs } from '../needs.ts';
import { describePhrases, hasVoices } from './made-phrases.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const AGAIN = ['ready', 'no_network'] as const;

/** The long test makes all phrases. */
describePhrases({
  codes: FEW,
  voices: FEW_VOICES,
  first: fewPhrases,
  again: {
    codes: AGAIN,
    async make(place, env) {
      const out = join(place, 'second');
      await makePhrasesOf(AGAIN, { folder: place, out, env });
      return out;
    },
  },
});

it(
  'building phrases fails with a sentence when espeak-ng is missing',
  needs(!hasVoices && 'needs espeak-ng, sox'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-phrases-'));
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    for (const program of ['node', 'sh', 'dirname', 'readlink', 'env', 'dpkg-deb'])
      symlinkSync(program === 'node' ? process.execPath : which(program), join(bin, program));
    const said = (script: string, ...words: string[]) => {
      const env = { PATH: bin, SOURCE_DATE_EPOCH: '1700000000' };
      const { status, stderr } = spawnSync(join(ROOT, 'scripts', script), words, { encoding: 'utf8', env });
      return [status, stderr];
    };
    const why = 'espeak-ng is not installed: apt-get install espeak-ng sox\n';
    try {
      expect(said('build-phrases', '--out', join(folder, 'none'))).toEqual([1, `build-phrases: ${why}`]);
      expect(said('build-deb', '--no-node', '--out', join(folder, 'debs'))).toEqual([1, `build-deb: ${why}`]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

const which = (program: string): string => spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim();
