import { describe, expect, it } from 'vitest';
import { FRESH_EAR, hearLevel } from '../../../../src/device/lane/room/ear.ts';

/** A slot of this level: full scale is 0 dBFS. */
const slot = (db: number): Int16Array => new Int16Array(480).fill(Math.round(32_768 * 10 ** (db / 20)));

/** The noise, and how much each slot stands out of it. */
function listen(...levels: readonly number[]) {
  let ear = FRESH_EAR;
  const over = levels.map((db) => {
    const heard = hearLevel(ear, slot(db));
    ear = heard.ear;
    return heard.overDb;
  });
  return { over, noiseDb: ear.noiseDb ?? Number.NaN };
}

describe('what a microphone hears over its own noise', () => {
  it('is nothing in its first slot', () => {
    expect(listen(-20).over).toEqual([0]);
  });

  it('is the difference to the noise, which a voice hardly raises', () => {
    const { over, noiseDb } = listen(-50, -30, -30);
    expect(over[1]).toBeCloseTo(20, 1);
    expect(over[2]).toBeCloseTo(20 - 0.018, 1);
    // Two slots of 0.018 dB.
    expect(noiseDb - listen(-50).noiseDb).toBeCloseTo(0.036, 5);
  });

  it('rises again at once when the room becomes quiet: three tenths of the way in each slot', () => {
    const [from, to] = [listen(-30).noiseDb, listen(-50).noiseDb];
    expect(listen(-30, -50).noiseDb).toBeCloseTo(from + 0.3 * (to - from), 5);
    expect(from - to).toBeCloseTo(20, 1);
  });

  it('does not rise above what is heard', () => {
    expect(listen(-50, -49.99).noiseDb).toBeCloseTo(listen(-49.99).noiseDb, 5);
  });

  it('takes digital silence for -70 dBFS', () => {
    const { ear } = hearLevel(FRESH_EAR, new Int16Array(480));
    expect(ear.noiseDb).toBe(-70);
    expect(hearLevel(FRESH_EAR, new Int16Array(0)).ear.noiseDb).toBe(-70);
  });
});
