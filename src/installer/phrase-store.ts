import { join } from 'node:path';
import { readRecorded } from '../adapters/audio/recorded-speech.ts';
import type { DecodedSound } from '../sound/adpcm.ts';
import { joinPcm, silence } from '../sound/pcm.ts';
import type { PhraseCode, PhraseLanguage } from './core/phrases.ts';

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
    const phrase =
      readRecorded(join(folder, language, `${code}.wav`)) ?? readRecorded(join(folder, 'en', `${code}.wav`));
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
