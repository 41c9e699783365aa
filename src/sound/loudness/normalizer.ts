import { gainOfDb } from '../gain-ramp.ts';
import { applyGain, samplesOf } from '../pcm.ts';
import { createWeightedSquares } from './k-weighting.ts';
import { createLimiter, slotSamples } from './limiter.ts';
import { BLOCK_MS, hearBlock, UNKNOWN_VOICE, type VoiceLevel } from './voice-level.ts';

/** Brings all voices slowly to one loudness and keeps them from clipping. Adds no delay and changes no length. */
export interface Normalizer {
  /**
   * Scales the next piece of speech.
   * @param voice any key that identifies the voice; each voice keeps its gain while others speak
   */
  level(pcm: Uint8Array, voice: string): Uint8Array;
  /** Scales sound that joins the end of the last piece or the start of the next, with the same gain. */
  edge(pcm: Uint8Array): Uint8Array;
  /** The gain of a voice in decibels; 0 for a voice that has not spoken. */
  gainDb(voice: string): number;
}

/** Number of remembered voices: more than ever take turns in one lane. */
const MOST_VOICES = 32;

export function createNormalizer(rateHz: number): Normalizer {
  const slot = slotSamples(rateHz);
  const slotsPerBlock = BLOCK_MS;
  const limiter = createLimiter(rateHz);
  const voices = new Map<string, VoiceLevel>();
  let speaker: string | null = null;
  let squares = createWeightedSquares(rateHz);
  let block = { sum: 0, samples: 0 };
  // In an object: each change of a number captured by a closure would allocate another one, for each millisecond.
  const slide = { gain: 1, wanted: 1 };

  const change = (voice: string): void => {
    if (voice === speaker) return;
    speaker = voice;
    squares = createWeightedSquares(rateHz);
    block = { sum: 0, samples: 0 };
    slide.gain = gainOfDb(voices.get(voice)?.gainDb ?? 0);
    slide.wanted = slide.gain;
    if (voices.size >= MOST_VOICES && !voices.has(voice)) voices.delete(voices.keys().next().value ?? '');
  };
  /** Takes one millisecond of sound and returns the gain after it. */
  const follow = (voice: string, samples: Int16Array, from: number, until: number): number => {
    block.sum += squares(samples, from, until);
    block.samples += until - from;
    if (block.samples >= slot * slotsPerBlock) {
      const heard = hearBlock(voices.get(voice) ?? UNKNOWN_VOICE, block.sum / block.samples);
      voices.set(voice, heard);
      slide.wanted = gainOfDb(heard.gainDb);
      block = { sum: 0, samples: 0 };
    }
    // A block's step is spread over the next one.
    slide.gain += (slide.wanted - slide.gain) / slotsPerBlock;
    if (Math.abs(slide.wanted - slide.gain) < 1e-4) slide.gain = slide.wanted;
    return slide.gain;
  };
  return {
    level(pcm, voice) {
      change(voice);
      const samples = samplesOf(pcm);
      const gains = new Float64Array(Math.ceil(samples.length / slot));
      for (let at = 0; at < gains.length; at++)
        gains[at] = follow(voice, samples, at * slot, Math.min(samples.length, (at + 1) * slot));
      const levelled = limiter.apply(samples, gains);
      return new Uint8Array(levelled.buffer);
    },
    edge: (pcm) => applyGain(pcm, limiter.gain),
    gainDb: (voice) => voices.get(voice)?.gainDb ?? 0,
  };
}
