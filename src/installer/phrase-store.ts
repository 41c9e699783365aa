import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type DecodedSound, decodeAdpcm } from '../sound/adpcm.ts';
import { joinPcm, silence } from '../sound/pcm.ts';
import type { PhraseCode, PhraseLanguage } from './core/phrases.ts';

const MOST_BYTES = 1_000_000;
const PAUSE_MS = 400;

/**
 * Joins phrases to one sound.
 * @param folder has `LANGUAGE/CODE.wav`; a phrase that is missing in a language is spoken in English
 * @returns null when none of them exists
 */
export function loadPhrases(
  folder: string,
  language: PhraseLanguage,
  codes: readonly PhraseCode[],
): DecodedSound | null {
  const sounds = codes.flatMap((code) => {
    const phrase = read(join(folder, language, `${code}.wav`)) ?? read(join(folder, 'en', `${code}.wav`));
    return phrase === null ? [] : [phrase];
  });
  const [first] = sounds;
  if (first === undefined) return null;
  const { rateHz } = first;
  const pause = silence(2 * Math.round((PAUSE_MS * rateHz) / 1000));
  const parts = sounds
    .filter((sound) => sound.rateHz === rateHz)
    .flatMap(({ pcm }, index) => (index === 0 ? [pcm] : [pause, pcm]));
  return { rateHz, pcm: joinPcm(parts) };
}

function read(path: string): DecodedSound | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > MOST_BYTES) return null;
    const bytes = new Uint8Array(stat.size);
    return decodeAdpcm(bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}
