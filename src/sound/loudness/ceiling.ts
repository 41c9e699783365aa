import { applyGain, samplesOf } from '../pcm.ts';
import { CEILING, createLimiter, slotSamples } from './limiter.ts';

/** Attenuates translated speech that is far too loud. Sound below the ceiling stays bit-exact. */
export interface Ceiling {
  /** Limits the next piece of speech to the ceiling. */
  hold(pcm: Uint8Array): Uint8Array;
  /** Scales sound that joins the end of the last piece, with the same gain. */
  edge(pcm: Uint8Array): Uint8Array;
}

/** Length of a measured block (ms). */
const BLOCK_MS = 100;
/** Level below which a block is a pause (RMS, 1 is full scale): -50 dBFS. */
const PAUSE_LEVEL = 0.003;
/** Number of blocks remembered: a minute of speech. */
const REMEMBERED = 600;
/** Number of blocks needed to know the usual loudness: a sentence may begin softly. */
const FEWEST = 30;
/** How much louder a block may be than the usual one: 15 dB. A speaker's loudest syllables are 10 dB louder than usual. */
const MOST_ABOVE = 10 ** (15 / 20);
/** Lowest ceiling (-12 dBFS), so that normal speech after a whisper is not attenuated. */
const LOWEST = 0.25;
/** Highest ceiling (-4 dBFS): only a tone or a square wave is louder. */
const HIGHEST = 0.63;

export function createCeiling(rateHz: number): Ceiling {
  const limiter = createLimiter(rateHz);
  const slot = slotSamples(rateHz);
  const block = Math.round((rateHz * BLOCK_MS) / 1000);
  /** Levels of the last blocks of speech. */
  const levels: number[] = [];
  return {
    hold(pcm) {
      const samples = samplesOf(pcm);
      const { loud, peak } = measure(samples, block);
      const loudest = Math.max(PAUSE_LEVEL, ...loud);
      const gain = loudest <= LOWEST ? 1 : Math.min(1, ceilingOf(levels) / loudest);
      // A loud sound does not raise the usual loudness, however long it is.
      if (gain === 1) {
        levels.push(...loud.filter((level) => level >= PAUSE_LEVEL));
        levels.splice(0, levels.length - REMEMBERED);
      }
      if (gain === 1 && limiter.gain === 1 && peak <= CEILING) return pcm;
      const gains = new Float64Array(Math.ceil(samples.length / slot)).fill(gain);
      return new Uint8Array(limiter.apply(samples, gains).buffer);
    },
    edge: (pcm) => applyGain(pcm, limiter.gain),
  };
}

/** The highest allowed level of a block, from the median of earlier blocks. */
function ceilingOf(levels: readonly number[]): number {
  if (levels.length < FEWEST) return HIGHEST;
  const usual = levels.toSorted((one, other) => one - other)[levels.length >> 1] ?? 0;
  return Math.min(HIGHEST, Math.max(LOWEST, usual * MOST_ABOVE));
}

/** The levels of a sound's blocks, and its peak. */
function measure(samples: Int16Array, block: number): { loud: readonly number[]; peak: number } {
  const loud: number[] = [];
  let peak = 0;
  for (let from = 0, until = 0; from < samples.length; from = until) {
    // A remainder of less than half a block joins the last block: a single period of a voice may be louder than any syllable.
    until = samples.length - from < 1.5 * block ? samples.length : from + block;
    let sum = 0;
    for (let at = from; at < until; at++) {
      const size = Math.abs(samples[at] as number);
      sum += size * size;
      if (size > peak) peak = size;
    }
    loud.push(Math.sqrt(sum / (until - from)) / 32_768);
  }
  return { loud, peak };
}
