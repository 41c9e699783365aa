import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../../src/core/random.ts';
import { matchEnvelope } from '../../../../../src/device/doctor/checks/playback/match-envelope.ts';

const next = seededRandom(3);
const pattern = Float32Array.from({ length: 200 }, (_, at) => Math.sin(at ** 2 / 150));

/** A little noise with the pattern in it. */
function sound(at: number, factor: number): Float32Array {
  const made = Float32Array.from({ length: 1000 }, () => (next() - 0.5) / 100);
  for (const [index, value] of pattern.entries()) made[at + index] = (made[at + index] ?? 0) + value * factor;
  return made;
}

describe('a pattern in a sound', () => {
  it.each([
    [0, 1],
    [333, 0.25],
    [800, -0.5],
  ])('is found with its place and gain: at %i, factor %d', (at, factor) => {
    const envelope = matchEnvelope(sound(at, factor), pattern);
    expect(envelope.length).toBe(801);
    const peak = Math.max(...envelope);
    expect(envelope.indexOf(peak)).toBe(at);
    expect(peak).toBeCloseTo(Math.abs(factor), 2);
  });

  it('is not found when it is longer than the sound', () => {
    expect(matchEnvelope(pattern.subarray(0, 100), pattern)).toHaveLength(0);
  });
});
