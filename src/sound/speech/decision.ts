import type { ChunkLevels } from './noise-floor.ts';

/** Decides whether a person speaks. Three functions, because mistakes have different costs. */

/** A fast decision, based on one chunk, for actions that are easily undone, such as lowering the translation during speech. */
export function mayBeSpeech(voiced: boolean, levels: ChunkLevels): boolean {
  // Both must agree: the chunk is loud enough, and the voice detector (if there is one) hears a person.
  return voiced && levels.isSpeech !== false;
}

/** Rise of the threshold each time that noise was taken for speech, up to `HARDEST`. */
const HARDER_EACH = 1.5;
const HARDEST = 4;
/** Drop of the threshold while an unclear voice is expected; even then, sound without a voice stays far below it. */
const EXPECTED = 4;

/**
 * A careful decision, based on roughly the last second, for actions that cost money, such as opening a stream or keeping it
 * open.
 * @param mistakes recent wrong decisions in this room
 * @param isExpected a person whose voice was unclear has just spoken here
 */
export function isTalk(voiced: boolean, levels: ChunkLevels, mistakes: number, isExpected = false): boolean {
  if (levels.talk === undefined) return mayBeSpeech(voiced, levels);
  return levels.talk.score > Math.min(HARDEST, HARDER_EACH * mistakes) - (isExpected ? EXPECTED : 0);
}

/** For display, by the voiced share of a short stretch: one syllable in a tenth of a second, or some words in a second. */
export function looksLikeSpeech(voicedMs: number, ms: number): boolean {
  return voicedMs >= ms / 4 && voicedMs > 0;
}
