import { describe, expect, it } from 'vitest';
import {
  applyRamp,
  type GainRamp,
  gainOfDb,
  RAMP_MS,
  rampTo,
  steadyGain,
} from '../../src/sound/gain-ramp.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { fc } from '../properties.ts';

const RATE_HZ = 24_000;
const RAMP = (RAMP_MS * RATE_HZ) / 1000;

const pcmOf = (samples: readonly number[]): Uint8Array => new Uint8Array(Int16Array.from(samples).buffer);
const steady = (count: number, value = 10_000): Uint8Array =>
  pcmOf(Array.from({ length: count }, () => value));
const roughest = (samples: readonly number[]): number =>
  samples.reduce((most, value, i) => Math.max(most, Math.abs(value - (samples[i - 1] ?? value))), 0);
const furthest = (some: readonly number[], others: readonly number[]): number =>
  some.reduce((most, value, i) => Math.max(most, Math.abs(value - (others[i] ?? Number.NaN))), 0);

function applyAll(pieces: readonly Uint8Array[], given: GainRamp): { samples: number[]; ramp: GainRamp } {
  let ramp = given;
  const samples: number[] = [];
  for (const piece of pieces) {
    const next = applyRamp(piece, ramp);
    ramp = next.ramp;
    samples.push(...samplesOf(next.pcm));
  }
  return { samples, ramp };
}

describe('a gain', () => {
  it('returns the same bytes when it is 1, and changes no others', () => {
    const pcm = steady(100);
    expect(applyRamp(pcm, steadyGain(1)).pcm).toBe(pcm);
    expect([...samplesOf(applyRamp(pcm, steadyGain(0.25)).pcm)]).toEqual([...samplesOf(steady(100, 2500))]);
    expect(pcm).toEqual(steady(100));
  });

  it('moves to another gain in 50 ms and stays there', () => {
    const { samples, ramp } = applyAll([steady(2 * RAMP)], rampTo(steadyGain(1), 0.5, RATE_HZ));
    expect(samples[0]).toBeLessThan(10_000);
    expect(samples[RAMP / 2 - 1]).toBe(7500);
    expect(samples[RAMP - 2]).toBeGreaterThan(5000);
    expect(samples.slice(RAMP - 1).every((value) => value === 5000)).toBe(true);
    expect(ramp).toEqual(steadyGain(0.5));
  });

  it('does not move when it is already at its target', () => {
    const ramp = steadyGain(0.5);
    expect(rampTo(ramp, 0.5, RATE_HZ)).toBe(ramp);
  });

  it('is the same however the sound is cut, and never clicks when its target changes often', () => {
    const change = fc.record({
      target: fc.double({ min: 0, max: 1, noNaN: true }),
      samples: fc.integer({ min: 0, max: 3 * RAMP }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), fc.integer({ min: 1, max: 700 }), (changes, cut) => {
        let whole: GainRamp = steadyGain(1);
        let pieces: GainRamp = steadyGain(1);
        const all: number[] = [];
        for (const { target, samples } of changes) {
          const sound = steady(samples);
          const parts: Uint8Array[] = [];
          for (let at = 0; at < sound.byteLength; at += cut * 2) parts.push(sound.subarray(at, at + cut * 2));
          const one = applyAll([sound], rampTo(whole, target, RATE_HZ));
          const many = applyAll(parts, rampTo(pieces, target, RATE_HZ));
          expect(many.samples).toHaveLength(one.samples.length);
          expect(furthest(one.samples, many.samples)).toBeLessThanOrEqual(1);
          all.push(...one.samples);
          whole = one.ramp;
          pieces = many.ramp;
        }
        expect(roughest(all)).toBeLessThanOrEqual(10_000 / RAMP + 2);
      }),
    );
  });

  it('converts from decibels', () => {
    expect(gainOfDb(0)).toBe(1);
    expect(gainOfDb(-12)).toBeCloseTo(0.251, 3);
    expect(gainOfDb(-20)).toBeCloseTo(0.1, 9);
  });
});
