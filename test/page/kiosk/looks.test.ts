import { describe, expect, it } from 'vitest';
import { lookOf, NO_LOOKS, withLook } from '../../../src/page/kiosk/looks.ts';

const USUAL = { isLarge: false, isContrast: false };
const LARGE = { isLarge: true, isContrast: false };
const BRIGHT = { isLarge: false, isContrast: true };

describe('the look of a side', () => {
  it('is the usual one until its reader chooses, and again in the next conversation', () => {
    const looks = withLook(NO_LOOKS, 'run 1', ['target'], LARGE);
    expect(lookOf(NO_LOOKS, 'run 1', ['target'], USUAL)).toBe(USUAL);
    expect(lookOf(looks, 'run 1', ['target'], USUAL)).toBe(LARGE);
    expect(lookOf(looks, 'run 2', ['target'], USUAL)).toBe(USUAL);
  });

  it('does not change with that of the other side', () => {
    const looks = withLook(NO_LOOKS, 'run 1', ['target'], LARGE);
    expect(lookOf(looks, 'run 1', ['source'], BRIGHT)).toBe(BRIGHT);
    const both = withLook(looks, 'run 1', ['source'], BRIGHT);
    expect([lookOf(both, 'run 1', ['target'], USUAL), lookOf(both, 'run 1', ['source'], USUAL)]).toEqual([
      LARGE,
      BRIGHT,
    ]);
  });

  it('is not left over from the conversation before when one side chooses', () => {
    const before = withLook(NO_LOOKS, 'run 1', ['source'], LARGE);
    const looks = withLook(before, 'run 2', ['target'], BRIGHT);
    expect(lookOf(looks, 'run 2', ['source'], USUAL)).toBe(USUAL);
  });

  it('is shared where one panel is for both, whichever side has chosen', () => {
    const looks = withLook(NO_LOOKS, 'run 1', ['source'], LARGE);
    expect(lookOf(looks, 'run 1', ['target', 'source'], USUAL)).toBe(LARGE);
    const back = withLook(looks, 'run 1', ['target', 'source'], USUAL);
    expect(lookOf(back, 'run 1', ['source'], LARGE)).toBe(USUAL);
  });
});
