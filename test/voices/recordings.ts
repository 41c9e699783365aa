import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resampleBy } from '../../src/emulator/core/resample.ts';
import { decodeG722 } from './g722.ts';

/** Sample rate of all sound here: that of a kiosk's stream. */
export const RATE_HZ = 24_000;

/** Recorded speakers. The rules were tuned on three of them and are judged on all. */
export const SPEAKERS = {
  en: { folder: 'en_US_f_Allison', tuned: true },
  es: { folder: 'es_MX_f_Allison', tuned: true },
  fr: { folder: 'fr_CA_f_June', tuned: true },
  it: { folder: 'it_IT_m_Carlo', tuned: false },
  ru: { folder: 'ru_RU_f_IvrvoiceRU', tuned: false },
  'it-menardi': { folder: 'it_IT_f_Menardi', tuned: false },
  'es-co': { folder: 'es', tuned: false },
  'fr-armelle': { folder: 'fr', tuned: false },
} as const;

export type Speaker = keyof typeof SPEAKERS;
export const SPEAKER_NAMES = Object.keys(SPEAKERS) as readonly Speaker[];

/** Bytes of a second of sound, by file extension. */
const BYTES_PER_S: Readonly<Record<string, number>> = { g722: 8000, wav: 16_000, gsm: 1650 };

/** Folders with silence or single words. */
const NO_SENTENCES = /^(silence|digits|letters|phonetic)\//;

/** One recorded file. */
export interface Recording {
  readonly path: string;
  readonly seconds: number;
}

/** The recordings of one speaker, in the order of their names. */
export function recordingsOf(folder: string, speaker: Speaker): readonly Recording[] {
  return filesBelow(join(folder, 'sounds', SPEAKERS[speaker].folder));
}

/** The pieces of music, in the order of their names. */
export function musicIn(folder: string): readonly Recording[] {
  return filesBelow(join(folder, 'moh'));
}

function filesBelow(folder: string): readonly Recording[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.flatMap((name) => {
    const path = join(folder, name);
    const rate = BYTES_PER_S[name.split('.').at(-1) ?? ''];
    if (rate === undefined || NO_SENTENCES.test(name)) return [];
    return [{ path, seconds: statSync(path).size / rate }];
  });
}

/** A recording's sound, full scale 1. */
export function decode(recording: Recording): Float32Array {
  return withoutOffset(decodeAsItIs(recording));
}

/** Removes a DC offset, which has a third of the power of some recordings and must not count as sound. */
function withoutOffset(sound: Float32Array): Float32Array {
  const offset = sound.reduce((sum, value) => sum + value, 0) / Math.max(1, sound.length);
  return sound.map((value) => value - offset);
}

function decodeAsItIs({ path }: Recording): Float32Array {
  if (path.endsWith('.g722')) return resampleBy(decodeG722(readFileSync(path)), 16_000 / RATE_HZ);
  const raw = ['-t', 'raw', '-e', 'signed', '-b', '16', '-c', '1', '-r', '8000', '-'];
  const pcm = execFileSync('sox', ['-V1', path, ...raw], { maxBuffer: 2 ** 28 });
  const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
  return resampleBy(
    Float32Array.from(samples, (value) => value / 32_768),
    8000 / RATE_HZ,
  );
}
