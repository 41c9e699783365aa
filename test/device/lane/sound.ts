import type { ChunkLevels } from '../../../src/sound/speech/noise-floor.ts';

/** Levels of a chunk with speech in a quiet room. */
export const SPEECH: ChunkLevels = { loudestDb: -20, quietestDb: -52 };
/** Levels of a chunk with the room alone. */
export const PAUSE: ChunkLevels = { loudestDb: -56, quietestDb: -58 };

/** Nearly six minutes of sound. */
const WORDS_PER_SENTENCE = 2 ** 22;

let captured = 0;

/** The sound of one captured chunk: short, unique, and showing whether it is speech. */
export function nextPcm(voiced: boolean): Uint8Array {
  captured++;
  return Uint8Array.of(captured & 0xff, (captured >> 8) & 0xff, (captured >> 16) & 0xff, voiced ? 1 : 0);
}

/** Whether a captured chunk has no speech. */
export function isQuiet(pcm: Uint8Array): boolean {
  return pcm[3] === 0;
}

/** Translated sound in which every 4 bytes encode the sentence and the place in it. */
export function tagged(sentence: number, firstWord: number, words: number): Uint8Array {
  const tags = new Uint32Array(words);
  for (let i = 0; i < words; i++) tags[i] = sentence * WORDS_PER_SENTENCE + firstWord + i;
  return new Uint8Array(tags.buffer);
}

function tagAt(pcm: Uint8Array, place: number): { sentence: number; word: number } {
  const [tag = 0] = new Uint32Array(pcm.buffer, pcm.byteOffset + place * 4, 1);
  return { sentence: Math.floor(tag / WORDS_PER_SENTENCE), word: tag % WORDS_PER_SENTENCE };
}

/** The decoded words of such sound. */
export function readTags(pcm: Uint8Array): { sentence: number; word: number }[] {
  return Array.from({ length: Math.floor(pcm.byteLength / 4) }, (_, i) => tagAt(pcm, i));
}

/** The first and the last decoded word of such sound. */
export function readEnds(pcm: Uint8Array): readonly { sentence: number; word: number }[] {
  return [tagAt(pcm, 0), tagAt(pcm, Math.floor(pcm.byteLength / 4) - 1)];
}
