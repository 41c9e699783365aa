import { describe, expect, it } from 'vitest';
import { resampleBy } from '../../../src/emulator/core/resample.ts';
import { createDice } from '../../sim/dice.ts';
import { brown, fan, happen, hum, pink, ring, slam, walk } from '../../voices/noises.ts';
import { atLevel } from '../../voices/room.ts';
import { highest, inRoom, RATE_HZ, scores } from './talk-scores.ts';

describe('what tells somebody who speaks from a room', () => {
  it('needs more than a second to say anything', () => {
    const [first, second, third, fourth, fifth] = scores(new Float32Array(RATE_HZ * 2));
    expect([first, second, third]).toEqual([null, null, null]);
    expect(fourth).toBeLessThan(0);
    expect(fifth).toBeLessThan(0);
  });

  it.each([
    [-20, -60],
    [-20, -30],
    [-38, -50],
    [-46, -60],
  ])('hears visitors at %i dBFS in a room at %i', async (levelDb, roomDb) => {
    const all = scores(await inRoom(levelDb, roomDb));
    expect(highest(all.slice(0, 24))).toBeLessThan(0);
    // The first sentence, not only one of them.
    expect(highest(all.slice(25, 34))).toBeGreaterThan(0);
  });

  it.each([8000, 44_100])('hears them at %i samples a second', async (rateHz) => {
    const sound = resampleBy(await inRoom(-25, -55), RATE_HZ / rateHz);
    const all = scores(sound, rateHz);
    expect(highest(all.slice(0, 24))).toBeLessThan(0);
    expect(highest(all.slice(25, 34))).toBeGreaterThan(0);
  });

  it('does not mind digital silence, full scale, or an offset', () => {
    for (const value of [0, 1, -1, 0.5]) {
      const all = scores(new Float32Array(RATE_HZ * 5).fill(value));
      expect(highest(all)).toBeLessThan(0);
      expect(all.slice(4).every((score) => Number.isFinite(score))).toBe(true);
    }
    const square = Float32Array.from({ length: RATE_HZ * 5 }, (_, index) => (index % 240 < 120 ? 1 : -1));
    expect(highest(scores(square))).toBeLessThan(0);
  });

  it.each([
    ['a fan', fan],
    ['hum', hum],
    ['brown noise', brown],
    ['pink noise', pink],
  ])('takes %s for no speech', (_, make) => {
    const sound = atLevel(make(20 * RATE_HZ, createDice(70)), -30);
    expect(highest(scores(sound))).toBeLessThan(0);
  });

  it.each([
    ['slammed doors', -14, slam],
    ['steps', -26, walk],
    ['phones', -24, ring],
  ])('takes none of a minute of %s for speech', (_, levelDb, make) => {
    const sound = happen(60 * RATE_HZ, createDice(17), levelDb, make);
    expect(highest(scores(sound))).toBeLessThan(0);
  });
});
