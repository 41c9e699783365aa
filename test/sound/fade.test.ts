import { describe, expect, it } from 'vitest';
import { fadeAfter, fadeBefore, fadeOut } from '../../src/sound/fade.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { fc } from '../properties.ts';

const RATE_HZ = 24_000;
const EDGE = 192;

const pcmOf = (samples: readonly number[]): Uint8Array => new Uint8Array(Int16Array.from(samples).buffer);
const tone = (hz: number, count: number, amplitude = 10_000, phase = 0): number[] =>
  Array.from({ length: count }, (_, i) =>
    Math.round(amplitude * Math.sin(phase + (2 * Math.PI * hz * i) / RATE_HZ)),
  );
/** The largest step from one sample to the next. */
const roughest = (samples: readonly number[]): number =>
  samples.reduce((most, value, i) => Math.max(most, Math.abs(value - (samples[i - 1] ?? value))), 0);

const speechlike = fc.record({
  hz: fc.integer({ min: 80, max: 2000 }),
  amplitude: fc.integer({ min: 0, max: 32_000 }),
  phase: fc.double({ min: 0, max: 6.3, noNaN: true }),
});

describe('a fade', () => {
  it('continues the last sample of a sound that breaks off, and ends in silence', () => {
    fc.assert(
      fc.property(speechlike, ({ hz, amplitude, phase }) => {
        const sound = tone(hz, 2 * EDGE, amplitude, phase);
        const fade = fadeAfter(pcmOf(sound.slice(-EDGE)));
        if (fade === null) {
          expect(Math.abs(sound.at(-1) ?? 0)).toBeLessThan(328);
          return;
        }
        const after = [...samplesOf(fade)];
        expect(after).toHaveLength(EDGE);
        expect(after.at(-1)).toBe(0);
        // Not rougher than the sound itself, except for the corner where it is mirrored.
        expect(roughest([...sound, ...after, 0])).toBeLessThanOrEqual(roughest(sound) + 0.02 * amplitude + 2);
      }),
    );
  });

  it('rises from silence to the first sample of a sound that begins abruptly', () => {
    fc.assert(
      fc.property(speechlike, ({ hz, amplitude, phase }) => {
        const sound = tone(hz, 2 * EDGE, amplitude, phase);
        const fade = fadeBefore(pcmOf(sound.slice(0, EDGE)));
        if (fade === null) {
          expect(Math.abs(sound[0] ?? 0)).toBeLessThan(328);
          return;
        }
        const before = [...samplesOf(fade)];
        expect(before[0]).toBe(0);
        expect(roughest([0, ...before, ...sound])).toBeLessThanOrEqual(
          roughest(sound) + 0.02 * amplitude + 2,
        );
      }),
    );
  });

  it('is null when its absence would be inaudible', () => {
    for (const edge of [[], [0], [9000, 327], [-327]]) expect(fadeAfter(pcmOf(edge))).toBeNull();
    for (const edge of [[], [0], [327, 9000], [-327]]) expect(fadeBefore(pcmOf(edge))).toBeNull();
    expect(fadeAfter(pcmOf([-328]))).not.toBeNull();
    expect(fadeBefore(pcmOf([328]))).not.toBeNull();
  });

  it('leaves its source unchanged, wherever that lies in memory', () => {
    const bytes = new Uint8Array(9);
    bytes.set(pcmOf([1000, 2000, 3000, 4000]), 1);
    const sound = bytes.subarray(1);
    const before = [...bytes];
    expect([...samplesOf(fadeAfter(sound) ?? sound)].at(-1)).toBe(0);
    expect([...samplesOf(fadeBefore(sound) ?? sound)][0]).toBe(0);
    expect([...bytes]).toEqual(before);
  });
});

describe('a fade-out', () => {
  it('goes from the sound to silence without a corner', () => {
    const faded = [...samplesOf(fadeOut(pcmOf(Array.from({ length: EDGE }, () => 20_000))))];
    expect(faded[0]).toBeGreaterThan(19_990);
    expect(faded[EDGE / 2 - 1]).toBe(10_000);
    expect(faded.at(-1)).toBe(0);
    expect(roughest(faded)).toBeLessThan(20_000 / 100);
    expect([...fadeOut(new Uint8Array(0))]).toEqual([]);
  });
});
