import { describe, expect, it } from 'vitest';
import { BAND_HZ, FRAME_SAMPLES } from '../../../src/sound/speech/band.ts';
import { createRichnessFinder } from '../../../src/sound/speech/richness.ts';

/** Above it there are more lines than a telephone has tones. */
const RICH = 2.5;

/** Richness of half a second of these lines, frame by frame, after the first two. */
function richness(lines: readonly { hz: number; strength: number }[]): number[] {
  const finder = createRichnessFinder();
  const found: number[] = [];
  for (let at = 0; at < BAND_HZ / 2; at += FRAME_SAMPLES) {
    const frame = Float32Array.from({ length: FRAME_SAMPLES }, (_, index) =>
      lines.reduce(
        (sum, { hz, strength }) =>
          sum + 0.1 * strength * Math.sin((2 * Math.PI * hz * (at + index)) / BAND_HZ),
        0,
      ),
    );
    found.push(finder.hear(frame, true));
  }
  return found.slice(2);
}

const tones = (...all: readonly number[]) => all.map((hz) => ({ hz, strength: 1 }));

/** Harmonics that fall by 6 dB an octave; those at two formants are raised by 6 dB. */
function vowel(pitchHz: number, formants: readonly [number, number]): { hz: number; strength: number }[] {
  return Array.from({ length: Math.floor(3900 / pitchHz) }, (_, order) => {
    const hz = pitchHz * (order + 1);
    const isLifted = formants.some((formant) => Math.abs(hz - formant) < Math.max(150, pitchHz / 2));
    return { hz, strength: (isLifted ? 2 : 1) / (order + 1) };
  });
}

describe('the number of lines in a spectrum', () => {
  it.each([
    ['a beep', tones(1000)],
    ['a low beep', tones(300)],
    ['a ring of two tones', tones(440, 480)],
    ['a dialled digit', tones(770, 1336)],
    ['a note of a melody', tones(262, 523, 2093)],
  ])('is small for %s', (_, lines) => {
    expect(Math.max(...richness(lines))).toBeLessThan(RICH);
  });

  it.each([
    ['a low voice', vowel(90, [500, 1500])],
    ['a high voice', vowel(220, [700, 1200])],
    ['a child', vowel(380, [900, 2600])],
  ])('is large for %s', (_, lines) => {
    expect(Math.min(...richness(lines))).toBeGreaterThan(RICH);
  });

  it('does not depend on the level', () => {
    const loud = richness(vowel(200, [500, 1500]));
    const soft = richness(
      vowel(200, [500, 1500]).map(({ hz, strength }) => ({ hz, strength: strength / 300 })),
    );
    for (const [index, value] of loud.entries()) expect(soft[index]).toBeCloseTo(value, 1);
  });

  it('is finite in silence, and 0 when not requested', () => {
    const finder = createRichnessFinder();
    expect(Number.isFinite(finder.hear(new Float32Array(FRAME_SAMPLES), true))).toBe(true);
    expect(finder.hear(new Float32Array(FRAME_SAMPLES).fill(0.1), false)).toBe(0);
  });
});
