import { steps } from './phrase-book.ts';
import type { Stretch } from './segmenter.ts';

/** Shortest part (ms of voice), so that each part has several words. */
const LEAST_VOICED_MS = 1500;

/** Time (ms) between two parts of a translation, for texts and speech, so that parts come one after the other. */
export const PART_INTERVAL_MS = 600;

/** A part of a sentence's translation: its text, and the stretch of sound that it translates. */
export interface TranslationPart extends Stretch {
  readonly phrases: readonly string[];
  /** The stretch with voice within `from` and `to`. */
  readonly voice: Stretch;
}

interface Sentence extends Stretch {
  readonly voice: Stretch;
  readonly voicedMs: number;
}

/**
 * Divides a translation at words, and the sound in the same proportions.
 * @param most largest number of parts; a short sentence has fewer
 * @param frame number of samples; all lengths are a multiple of the frame
 */
export function partsOf(
  { from, to, voice, voicedMs }: Sentence,
  phrases: readonly string[],
  most: number,
  frame: number,
): TranslationPart[] {
  const words = phrases.flatMap((text, phrase) => steps(text).map((word) => ({ phrase, word })));
  const count = Math.max(1, Math.min(most, Math.floor(voicedMs / LEAST_VOICED_MS), words.length));
  const at = (part: number): number =>
    part === count
      ? voice.to
      : voice.from + frame * Math.round(((voice.to - voice.from) * part) / count / frame);
  return Array.from({ length: count }, (_, part) => {
    const [isFirst, isLast] = [part === 0, part === count - 1];
    const own = words.slice(
      Math.round((words.length * part) / count),
      Math.round((words.length * (part + 1)) / count),
    );
    const texts = phrases.map((_text, phrase) =>
      own
        .filter((one) => one.phrase === phrase)
        .map(({ word }) => word)
        .join('')
        .trimEnd(),
    );
    return {
      phrases: count === 1 ? phrases : texts.filter((text) => text !== ''),
      from: isFirst ? from : at(part),
      to: isLast ? to : at(part + 1),
      voice: { from: at(part), to: at(part + 1) },
    };
  });
}
