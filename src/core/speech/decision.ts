import type { ChunkLevels } from './noise-floor.ts';

/**
 * Whether somebody speaks: the one place where that is decided. Three answers, because a mistake costs differently.
 */

/** Fast, by the chunk alone, for what is undone at once: the translation goes down while somebody speaks over it. */
export function mayBeSpeech(voiced: boolean, levels: ChunkLevels): boolean {
  // Both must agree: it is loud enough, and the voice detector, where there is one, hears a person.
  return voiced && levels.isSpeech !== false;
}

/** In a room where something else has been taken for speech, each time makes it harder, up to where nearly every voice is heard. */
const HARDER_EACH = 1.5;
const HARDEST = 4;
/** Where a voice is expected of which the score is seldom sure, so much less does: what is no voice at all is far below. */
const EXPECTED = 4;

/**
 * Sure, by the last second or so, for what costs money: a stream is opened, or kept open.
 * @param mistakes how often of late it was wrong in this room
 * @param isExpected whether somebody has just spoken here of whom it was not sure
 */
export function isTalk(voiced: boolean, levels: ChunkLevels, mistakes: number, isExpected = false): boolean {
  if (levels.talk === undefined) return mayBeSpeech(voiced, levels);
  return levels.talk.score > Math.min(HARDEST, HARDER_EACH * mistakes) - (isExpected ? EXPECTED : 0);
}

/** For the eye, by how much of a short stretch the voice detector took for a voice: a syllable in a tenth of a second, or some words in a second. */
export function looksLikeSpeech(voicedMs: number, ms: number): boolean {
  return voicedMs >= ms / 4 && voicedMs > 0;
}
