import { samplesOf, sumOfSquares } from './pcm.ts';

/** Length of a judged block (ms): shorter than a consonant, long enough that chance does not look like a rule. */
const BLOCK_MS = 40;
/** Shortest rest of a sound that is judged as a block of its own (ms). */
const SHORTEST_MS = 10;
/** Least level (RMS, 1 is full scale) at which noise is a shriek: a hiss of speech is softer. */
const LEAST_LEVEL = 0.2;
/** Greatest correlation of neighbouring samples in noise: a vowel has more than 0.6, a hiss of speech less than -0.3 two samples on. */
const NEXT = 0.25;
const AFTER_NEXT = -0.3;
/** Least share of samples whose lower byte is only a sign, and of those with a negative one, in soft sound with swapped bytes. */
const SIGNS = 0.95;
const NEGATIVE = 0.05;

/**
 * Whether sound is noise near full scale, as bytes are that are not the declared PCM: float samples, swapped or shifted bytes,
 * compressed sound. Speech and music are not. Two blocks in a row prove it.
 * @param wasNoise whether the sound directly before ended with such a block
 * @returns `endsInNoise`: the next sound of the sentence needs this
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
  // Nearly all speech ends here: without its mean, sound has even less power.
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
