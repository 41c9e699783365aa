import type { Clock } from '../../ports/clock.ts';

/** Joins samples that a service has cut in two between the pieces of an utterance. */
export interface WholeSamples {
  /**
   * @param utterance names the utterance; pieces without a name belong together
   * @param isLast the last piece of the sound
   * @returns whole samples, with the byte left over from the previous piece; a byte left over at the end waits for the next piece
   */
  take(pcm: Buffer, utterance: string, isLast: boolean): Buffer;
}

/** Maximum number of utterances at a time, in several languages and parts. */
const MOST_UTTERANCES = 8;
/** Longest pause within an utterance (milliseconds): after it, a leftover byte is dropped. */
const FOLLOWS_WITHIN_MS = 1000;

/** A service may cut its sound anywhere; half a sample at the end of a piece would turn all later sound into noise. */
export function createWholeSamples(clock: Pick<Clock, 'now'>): WholeSamples {
  const halves = new Map<string, { readonly half: number; readonly at: number }>();
  const keep = (utterance: string, half: number, at: number): void => {
    const [oldest] = halves.keys();
    if (halves.size >= MOST_UTTERANCES && oldest !== undefined) halves.delete(oldest);
    halves.set(utterance, { half, at });
  };
  return {
    take(pcm, utterance, isLast) {
      const now = clock.now();
      const left = halves.get(utterance);
      halves.delete(utterance);
      const isFollowed = left !== undefined && now - left.at <= FOLLOWS_WITHIN_MS;
      const whole = isFollowed ? Buffer.concat([Buffer.of(left.half), pcm]) : pcm;
      const even = whole.byteLength - (whole.byteLength % 2);
      const half = whole[even];
      if (half !== undefined && !isLast) keep(utterance, half, now);
      return whole.subarray(0, even);
    },
  };
}
