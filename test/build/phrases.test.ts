import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeAdpcm } from '../../src/core/audio/adpcm.ts';
import { durationMs, samplesOf } from '../../src/core/audio/pcm.ts';
import { PHRASE_CODES, PHRASE_LANGUAGES, PHRASES } from '../../src/core/provisioning/phrases.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const hasVoices = ['espeak-ng', 'sox'].every((one) => spawnSync(one, ['--version']).status === 0);
const MOST_BYTES = 6_000_000;
const SAMPLES_IN_BLOCK = 505;

describe.skipIf(!hasVoices)(`phrases as sounds${hasVoices ? '' : ': skipped, no espeak-ng or sox'}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-phrases-'));
  const first = join(folder, 'first');
  const fileOf = (language: string, code: string, out = first): string => join(out, language, `${code}.wav`);
  let said = '';

  beforeAll(async () => {
    const make = (out: string, env: object) =>
      run('scripts/build-phrases', ['--out', out], { cwd: ROOT, env: { PATH: process.env['PATH'], ...env } });
    said = (await make(first, { TZ: 'UTC', LC_ALL: 'C' })).stdout;
    await make(join(folder, 'second'), { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8', HOME: folder });
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are there for each phrase in each language, in 6 MB at most', ({ annotate }) => {
    const files = PHRASE_LANGUAGES.flatMap((language) =>
      readdirSync(join(first, language)).map((name) => `${language}/${name}`),
    );
    const wanted = PHRASE_LANGUAGES.flatMap((language) =>
      PHRASE_CODES.map((code) => `${language}/${code}.wav`),
    );
    expect(files.sort()).toEqual(wanted.sort());
    const bytes = files.reduce((sum, file) => sum + statSync(join(first, file)).size, 0);
    expect(bytes).toBeLessThan(MOST_BYTES);
    expect(said).toMatch(/^\d+ phrases in 6 languages: \d+ kB/);
    return annotate(said.trim());
  });

  it('are the same bytes each time', () => {
    for (const language of PHRASE_LANGUAGES)
      for (const code of PHRASE_CODES)
        expect(
          readFileSync(fileOf(language, code)).equals(
            readFileSync(fileOf(language, code, join(folder, 'second'))),
          ),
        ).toBe(true);
  });

  it('are decoded as sox decodes them, and last as long as somebody listens', async () => {
    for (const language of PHRASE_LANGUAGES) {
      for (const code of ['ready', 'wifi_password_wrong'] as const) {
        const file = fileOf(language, code);
        const ours = decodeAdpcm(readFileSync(file));
        expect(ours?.rateHz).toBe(16_000);
        const { stdout } = await run('sox', ['-D', file, '-t', 'raw', '-e', 'signed', '-b', '16', '-'], {
          encoding: 'buffer',
          maxBuffer: 2 ** 24,
        });
        const pcm = Buffer.from(ours?.pcm ?? []);
        // sox does not know where in its last block the sound ends.
        expect(pcm.equals(stdout.subarray(0, pcm.byteLength))).toBe(true);
        expect(stdout.byteLength - pcm.byteLength).toBeLessThan(2 * SAMPLES_IN_BLOCK);
        const seconds = durationMs(pcm.byteLength, 16_000) / 1000;
        expect(seconds).toBeGreaterThan(1.5);
        expect(seconds).toBeLessThan(9);
        expect(samplesOf(pcm).reduce((most, value) => Math.max(most, Math.abs(value)), 0)).toBeGreaterThan(
          20_000,
        );
      }
    }
  });

  it('begin with one chime for good news and another one for bad news', () => {
    const begin = (code: keyof typeof PHRASES): string => {
      const { pcm } = decodeAdpcm(readFileSync(fileOf('en', code))) ?? { pcm: new Uint8Array(0) };
      return pitchOf(samplesOf(pcm).subarray(0, 1600), 16_000);
    };
    // The first tones of the agent's chimes "ready" (523 Hz) and "lost" (440 Hz).
    for (const code of PHRASE_CODES)
      expect([code, begin(code)]).toEqual([code, PHRASES[code].news === 'good' ? '523' : '440']);
  });

  it('cannot be made without espeak-ng, which is said in a sentence', () => {
    const bin = join(folder, 'bin');
    spawnSync('mkdir', ['-p', bin]);
    for (const program of ['node', 'sh', 'dirname', 'readlink', 'env'])
      symlinkSync(program === 'node' ? process.execPath : which(program), join(bin, program));
    for (const script of ['build-phrases', 'build-deb']) {
      const words =
        script === 'build-deb'
          ? ['--no-node', '--out', join(folder, 'debs')]
          : ['--out', join(folder, 'none')];
      const { status, stderr } = spawnSync(join(ROOT, 'scripts', script), words, {
        encoding: 'utf8',
        env: { PATH: bin, SOURCE_DATE_EPOCH: '1700000000' },
      });
      expect([status, stderr]).toEqual([
        1,
        `${script}: espeak-ng is not here, which makes what the kiosk says: apt-get install espeak-ng sox\n`,
      ]);
    }
  });
});

const which = (program: string): string => spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim();

/** Which of the two tones is louder at the beginning. */
function pitchOf(sound: Int16Array, rateHz: number): string {
  const powerAt = (hz: number): number => {
    let [re, im] = [0, 0];
    for (const [i, value] of sound.entries()) {
      re += value * Math.cos((2 * Math.PI * hz * i) / rateHz);
      im += value * Math.sin((2 * Math.PI * hz * i) / rateHz);
    }
    return re * re + im * im;
  };
  return powerAt(523.25) > powerAt(440) ? '523' : '440';
}
