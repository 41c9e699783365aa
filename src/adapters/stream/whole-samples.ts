import type { Clock } from '../../ports/clock.ts';

/** Puts samples together that a service has cut in two between the pieces of an utterance. */
export interface WholeSamples {
  /**
   * @param utterance names what is spoken; pieces without a name belong together
   * @param isLast nothing more of it follows
   * @returns whole samples: the byte that the piece before it has left, if any, and the piece without one at its own end
   */
  take(pcm: Buffer, utterance: string, isLast: boolean): Buffer;
}

/** No more than these are spoken at one time, in several languages and parts. */
const MOST_UTTERANCES = 8;
/** What follows later than this is spoken anew: the half that was left belongs to nothing. */
const FOLLOWS_WITHIN_MS = 1000;

/** A service may cut its sound anywhere; half a sample at an end would turn everything after it into noise. */
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
