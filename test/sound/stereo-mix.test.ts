import { describe, expect, it } from 'vitest';
import { createStereoMix } from '../../src/sound/stereo-mix.ts';

const RATE_HZ = 48_000;
const PIECE = 960;

/** Mixes seconds of sound in pieces of 20 ms; the last second of the result. */
function mixed(
  mix: ReturnType<typeof createStereoMix>,
  seconds: number,
  frame: (at: number) => [number, number],
) {
  const out: number[] = [];
  for (let from = 0; from < seconds * RATE_HZ; from += PIECE) {
    const piece = Float32Array.from({ length: PIECE * 2 }, (_, i) => frame(from + (i >> 1))[i % 2] ?? 0);
    out.push(...mix.mix(piece));
  }
  return out.slice(-RATE_HZ);
}
const tone = (at: number): number => 0.3 * Math.sin(at / 20);
const peak = (samples: readonly number[]): number => Math.max(...samples.map(Math.abs));

describe('a stereo microphone', () => {
  it('is heard by one channel when its channels are in opposite phase', () => {
    const mix = createStereoMix(RATE_HZ);
    expect(peak(mixed(mix, 2, (at) => [tone(at), -tone(at)]))).toBeCloseTo(0.3, 2);
    expect(mix.only).toBe(0);
    const other = createStereoMix(RATE_HZ);
    expect(peak(mixed(other, 2, (at) => [0.95 * tone(at), -tone(at)]))).toBeCloseTo(0.3, 2);
    expect(other.only).toBe(1);
  });

  it('keeps its channel through silence, and is mixed again when the channels agree', () => {
    const mix = createStereoMix(RATE_HZ);
    mixed(mix, 2, (at) => [tone(at), -tone(at)]);
    mixed(mix, 5, () => [0, 0]);
    expect(mix.only).toBe(0);
    mixed(mix, 2, (at) => [tone(at), tone(at)]);
    expect(mix.only).toBeNull();
  });

  it.each([
    ['equal', (at: number): [number, number] => [tone(at), tone(at)]],
    ['one silent', (at: number): [number, number] => [0, tone(at)]],
    ['of two sounds', (at: number): [number, number] => [tone(at), 0.3 * Math.sin(at / 7)]],
    ['silent', (): [number, number] => [0, 0]],
    ['noise below hearing', (at: number): [number, number] => [0.0005 * tone(at), -0.0005 * tone(at)]],
  ])('is mixed to the mean when its channels are %s', (_, frame) => {
    const mix = createStereoMix(RATE_HZ);
    const last = mixed(mix, 2, frame);
    expect(mix.only).toBeNull();
    const [a, b] = frame(2 * RATE_HZ - 1);
    expect(last.at(-1)).toBeCloseTo((a + b) / 2, 5);
  });
});
