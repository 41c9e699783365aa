import type { Place } from '../../ports/audio.ts';
import { cancellerBlock, createCanceller } from '../../sound/canceller/canceller-filter.ts';
import { BYTES_PER_SAMPLE, durationMs, toFloat, toPcm } from '../../sound/pcm.ts';
import type { EchoRates } from './message.ts';

/**
 * Cancels the echo in one lane's captured sound, in the calling thread. It rests while nothing can echo: sound then comes back
 * unchanged, with the usual delay.
 */
export interface EchoFilter {
  played(pcm: Uint8Array, heardAt: number, goesOn?: boolean, place?: Place | null): void;
  flushed(at: number, place?: Place | null): void;
  /**
   * @param capturedAt when the last sample was captured
   * @returns as much sound as whole blocks allow, and when its last sample was captured
   */
  filter(pcm: Uint8Array, capturedAt: number): { pcm: Uint8Array; capturedAt: number };
  /** Measured clock skew: the fraction by which the loudspeaker's clock is faster than the microphone's. */
  readonly drift: number;
  /** Number of times that the echo was found at a new delay. */
  readonly found: number;
  /** Nothing was played lately, so the last sound was returned unchanged. */
  readonly rests: boolean;
}

export function createEchoFilter({ heardRateHz, playedRateHz }: EchoRates): EchoFilter {
  const canceller = createCanceller({ heardRateHz, playedRateHz });
  const blockSamples = cancellerBlock(heardRateHz);
  const blockMs = (blockSamples * 1000) / heardRateHz;
  let rest = new Float32Array(0);
  return {
    played(pcm, heardAt, goesOn = false, place = null) {
      canceller.played(toFloat(pcm), heardAt, goesOn, place);
    },
    flushed(at, place = null) {
      canceller.flushed(at, place);
    },
    filter(pcm, capturedAt) {
      const samples = join(rest, toFloat(pcm));
      const beganAt = capturedAt - (samples.length * 1000) / heardRateHz;
      const blocks = Math.floor(samples.length / blockSamples);
      const cleaned = new Float32Array(blocks * blockSamples);
      for (let block = 0; block < blocks; block++) {
        const from = block * blockSamples;
        const heard = samples.subarray(from, from + blockSamples);
        cleaned.set(canceller.step(heard, beganAt + block * blockMs), from);
      }
      rest = samples.slice(blocks * blockSamples);
      const restMs = durationMs(rest.length * BYTES_PER_SAMPLE, heardRateHz);
      return { pcm: toPcm(cleaned), capturedAt: capturedAt - restMs - blockMs };
    },
    get drift() {
      return canceller.drift;
    },
    get found() {
      return canceller.found;
    },
    get rests() {
      return canceller.rests;
    },
  };
}

function join(one: Float32Array, other: Float32Array): Float32Array {
  if (one.length === 0) return other;
  const joined = new Float32Array(one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}
