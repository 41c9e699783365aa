import { applyGain, BYTES_PER_SAMPLE, roundSample, sampleCount } from './pcm.ts';

/** A gain that moves smoothly to another one. Amplitude factors. */
export interface GainRamp {
  /** The current gain. */
  readonly gain: number;
  readonly target: number;
  /** Samples until the target is reached. */
  readonly left: number;
}

/** Length of a change (ms): long enough not to click, short enough to seem immediate. */
export const RAMP_MS = 50;

export function steadyGain(gain: number): GainRamp {
  return { gain, target: gain, left: 0 };
}

/** Starts a ramp from the current gain to another. */
export function rampTo(ramp: GainRamp, target: number, rateHz: number): GainRamp {
  if (target === ramp.target) return ramp;
  return { gain: ramp.gain, target, left: Math.round((RAMP_MS * rateHz) / 1000) };
}

/** Scales the next stretch of sound. With a steady gain of 1 it returns `pcm` itself, bit-exact. */
export function applyRamp(pcm: Uint8Array, ramp: GainRamp): { pcm: Uint8Array; ramp: GainRamp } {
  const { target, left } = ramp;
  if (left === 0) return { pcm: applyGain(pcm, target), ramp };
  const samples = sampleCount(pcm);
  const ramped = Math.min(left, samples);
  const step = (target - ramp.gain) / left;
  const scaled = new Uint8Array(samples * BYTES_PER_SAMPLE);
  const from = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  const to = new DataView(scaled.buffer);
  for (let i = 0; i < ramped; i++) {
    const at = i * BYTES_PER_SAMPLE;
    to.setInt16(at, roundSample(from.getInt16(at, true) * (ramp.gain + step * (i + 1))), true);
  }
  scaled.set(applyGain(pcm.subarray(ramped * BYTES_PER_SAMPLE, scaled.byteLength), target), ramped * 2);
  const arrived = ramped === left;
  return {
    pcm: scaled,
    ramp: arrived ? steadyGain(target) : { gain: ramp.gain + step * ramped, target, left: left - ramped },
  };
}

/** The amplitude factor of a level change. */
export function gainOfDb(db: number): number {
  return 10 ** (db / 20);
}
