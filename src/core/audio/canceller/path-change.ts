import { valueAt } from '../fourier.ts';

/**
 * Tells that the path from loudspeaker to microphone is another one: what is left then goes up and down with the echo that
 * was reckoned, sample by sample, which nobody's voice does.
 */
export interface PathChangeDetector {
  /** @returns whether what is known of the path is wrong */
  hear(echo: Float64Array, rest: Float64Array): boolean;
}

/** It is judged by so much echo, and then not again for so long. */
const JUDGED_MS = { over: 350, again: 1000 };
/** Below this power there is no echo to speak of. */
const ECHO_POWER = 1e-8;
/** What is left matters from this share of the echo on. */
const MATTERS = 0.04;
const ALIKE = 0.35;
/** Once no more than this share was left, the path was known. */
const KNOWN = 0.03;

export function createPathChangeDetector(blockMs: number): PathChangeDetector {
  let [both, echoes, rests, heardMs, quietMs] = [0, 0, 0, 0, 0];
  let isKnown = false;
  return {
    hear(echo, rest) {
      let [product, echoPower, restPower] = [0, 0, 0];
      for (let at = 0; at < echo.length; at++) {
        const one = valueAt(echo, at);
        const other = valueAt(rest, at);
        product += one * other;
        echoPower += one * one;
        restPower += other * other;
      }
      if (echoPower < ECHO_POWER * echo.length) return false;
      quietMs = Math.max(0, quietMs - blockMs);
      both += product;
      echoes += echoPower;
      rests += restPower;
      heardMs += blockMs;
      if (heardMs < JUDGED_MS.over) return false;
      const isWrong = rests > MATTERS * echoes && Math.abs(both) > ALIKE * Math.sqrt(echoes * rests);
      if (rests < KNOWN * echoes) isKnown = true;
      both = echoes = rests = heardMs = 0;
      if (!isWrong || quietMs > 0 || !isKnown) return false;
      isKnown = false;
      quietMs = JUDGED_MS.again;
      return true;
    },
  };
}
