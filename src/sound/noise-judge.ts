import { samplesOf, sumOfSquares } from './pcm.ts';

/** Length of a judged block (ms): shorter than a consonant, but long enough to rule out chance. */
const BLOCK_MS = 40;
/** Shortest remainder of a sound that is judged as a separate block (ms). */
const SHORTEST_MS = 10;
/** Level from which noise counts (RMS, 1 is full scale): the hiss of speech is softer. */
const LEAST_LEVEL = 0.2;
/** Maximum correlation of neighbouring samples in noise; a vowel has more than 0.6. */
const NEXT = 0.25;
/** Minimum correlation of samples at distance two in noise; the hiss of speech has less. */
const AFTER_NEXT = -0.3;
/** Soft sound with swapped bytes: minimum share of samples whose lower byte is 0x00 or 0xff. */
const SIGNS = 0.95;
/** Soft sound with swapped bytes: minimum share of samples whose lower byte is 0xff. */
const NEGATIVE = 0.05;

/**
 * Whether sound is noise near full scale, because its bytes are not the declared PCM: float samples, swapped or shifted bytes,
 * compressed sound. Speech and music do not count. Two noisy blocks in a row prove it.
 * @param wasNoise whether the sound directly before ended with such a block
 * @returns `endsInNoise`: the `wasNoise` of the sentence's next sound
 */
export function judgeNoise(
  pcm: Uint8Array,
  rateHz: number,
  wasNoise: boolean,
): { readonly isNoise: boolean; readonly endsInNoise: boolean } {
  const samples = samplesOf(pcm);
  const block = Math.round((rateHz * BLOCK_MS) / 1000);
  const shortest = Math.round((rateHz * SHORTEST_MS) / 1000);
  let before = wasNoise;
  for (let from = 0; samples.length - from >= shortest; from += block) {
    const isNoise = isShriek(samples, from, Math.min(samples.length, from + block));
    if (isNoise && before) return { isNoise: true, endsInNoise: true };
    before = isNoise;
  }
  return { isNoise: false, endsInNoise: before };
}

function isShriek(samples: Int16Array, from: number, until: number): boolean {
  const count = until - from;
  const least = count * (LEAST_LEVEL * 32_768) ** 2;
  // Nearly all speech returns here: removing the mean can only lower the power.
  if (sumOfSquares(samples, from, until) < least) return false;
  let [sum, positive, negative] = [0, 0, 0];
  for (let at = from; at < until; at++) {
    const sample = samples[at] as number;
    sum += sample;
    const low = sample & 0xff;
    if (low === 0) positive++;
    else if (low === 0xff) negative++;
  }
  const mean = sum / count;
  let [power, next, afterNext, last, lastButOne] = [0, 0, 0, 0, 0];
  for (let at = from; at < until; at++) {
    const sample = (samples[at] as number) - mean;
    power += sample * sample;
    next += sample * last;
    afterNext += sample * lastButOne;
    lastButOne = last;
    last = sample;
  }
  if (power < least) return false;
  const isWhite = Math.abs(next) < power * NEXT && afterNext > power * AFTER_NEXT;
  return isWhite || (positive + negative >= SIGNS * count && negative >= NEGATIVE * count);
}
