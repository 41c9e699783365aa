import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MENU_SOUNDS } from '../../src/device/menu/menu-sounds.ts';
import {
  PHRASE_CODES,
  PHRASE_LANGUAGES,
  PHRASES,
  type PhraseCode,
} from '../../src/installer/core/phrases.ts';
import { decodeAdpcm } from '../../src/sound/adpcm.ts';
import { durationMs, samplesOf } from '../../src/sound/pcm.ts';
import { needs } from '../needs.ts';

const run = promisify(execFile);
export const hasVoices = ['espeak-ng', 'sox'].every((one) => spawnSync(one, ['--version']).status === 0);
const MOST_BYTES = 6_000_000;
const SAMPLES_IN_BLOCK = 505;

export interface Making {
  /** Phrases to make. */
  readonly codes: readonly PhraseCode[];
  /** Languages of the menu whose sounds are made. */
  readonly voices: readonly string[];
  /** Makes them for the first time. @returns their folder and the output of the program */
  first(place: string): Promise<{ folder: string; said: string }>;
  /** Makes some of them again in another environment, for comparison. */
  readonly again: {
    readonly codes: readonly PhraseCode[];
    make(place: string, env: object): Promise<string>;
  };
}

/** Declares the tests of all phrases of a kiosk, for these codes. */
export function describePhrases({ codes, voices, first, again }: Making): void {
  describe(
    `phrases as sounds${hasVoices ? '' : ': skipped, no espeak-ng or sox'}`,
    needs(!hasVoices && 'needs espeak-ng, sox'),
    () => {
      const place = mkdtempSync(join(tmpdir(), 'dragoman-phrases-'));
      let [folder, second, said] = ['', '', ''];
      const fileOf = (language: string, code: string): string => join(folder, language, `${code}.wav`);

      beforeAll(async () => {
        ({ folder, said } = await first(place));
        second = await again.make(place, { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8', HOME: place });
      }, 600_000);
      afterAll(() => rmSync(place, { recursive: true }));

      it('exist for each phrase in each language, with at most 6 MB', ({ annotate }) => {
        const files = PHRASE_LANGUAGES.flatMap((language) =>
          readdirSync(join(folder, language)).map((name) => `${language}/${name}`),
        );
        const wanted = PHRASE_LANGUAGES.flatMap((language) => codes.map((code) => `${language}/${code}.wav`));
        expect(files.sort()).toEqual(wanted.sort());
        const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
        expect(bytes).toBeLessThan((MOST_BYTES * codes.length) / PHRASE_CODES.length);
        expect(said).toMatch(
          /^\d+ phrases in 6 languages: \d+ kB .*\n\d+ sounds of the menu in \d+ languages: \d+ kB/,
        );
        return annotate(said.trim());
      });

      it('of the menu exist in each language with a voice, with at most 400 kB a language', ({
        annotate,
      }) => {
        expect(readdirSync(join(folder, 'menu')).sort()).toEqual([...voices].sort());
        for (const language of voices) {
          const files = readdirSync(join(folder, 'menu', language)).sort();
          expect(files).toEqual(MENU_SOUNDS.map((sound) => `${sound}.wav`).sort());
          const sizes = files.map((file) => statSync(join(folder, 'menu', language, file)).size);
          expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(400_000);
        }
        return annotate(said.trim());
      });

      it('of the menu begin without a chime, and are short enough to listen to', () => {
        const [language = ''] = voices;
        const lengthOf = (sound: string): number => {
          const decoded = decodeAdpcm(readFileSync(join(folder, 'menu', language, `${sound}.wav`)));
          expect(decoded?.rateHz).toBe(12_000);
          return durationMs(decoded?.pcm.byteLength ?? 0, 12_000);
        };
        expect(lengthOf('name')).toBeLessThan(1500);
        expect(lengthOf('louder')).toBeLessThan(1500);
        expect(lengthOf('menuTouch')).toBeLessThan(8000);
      });

      it('are reproducible', () => {
        for (const file of voices.flatMap((language) => [
          `menu/${language}/name.wav`,
          `menu/${language}/end.wav`,
        ]))
          expect([file, readFileSync(join(folder, file)).equals(readFileSync(join(second, file)))]).toEqual([
            file,
            true,
          ]);
        for (const language of PHRASE_LANGUAGES)
          for (const code of again.codes) {
            const other = readFileSync(join(second, language, `${code}.wav`));
            expect([language, code, readFileSync(fileOf(language, code)).equals(other)]).toEqual([
              language,
              code,
              true,
            ]);
          }
      });

      it('decode to the same samples as with sox, and are short enough to listen to', async () => {
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
            // sox does not know the end of the sound within the last block.
            expect(pcm.equals(stdout.subarray(0, pcm.byteLength))).toBe(true);
            expect(stdout.byteLength - pcm.byteLength).toBeLessThan(2 * SAMPLES_IN_BLOCK);
            const seconds = durationMs(pcm.byteLength, 16_000) / 1000;
            expect(seconds).toBeGreaterThan(1.5);
            expect(seconds).toBeLessThan(9);
            expect(
              samplesOf(pcm).reduce((most, value) => Math.max(most, Math.abs(value)), 0),
            ).toBeGreaterThan(20_000);
          }
        }
      });

      it('begin with one chime for good news and another one for bad news', () => {
        const begin = (code: keyof typeof PHRASES): string => {
          const { pcm } = decodeAdpcm(readFileSync(fileOf('en', code))) ?? { pcm: new Uint8Array(0) };
          return pitchOf(samplesOf(pcm).subarray(0, 1600), 16_000);
        };
        // The first tones of the agent's chimes "ready" (523 Hz) and "lost" (440 Hz).
        for (const code of codes)
          expect([code, begin(code)]).toEqual([code, PHRASES[code].news === 'good' ? '523' : '440']);
      });
    },
  );
}

/** The louder one of the two tones at the beginning. */
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
