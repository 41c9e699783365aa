import { describe, expect, it } from 'vitest';
import { createDice } from '../../sim/dice.ts';
import { brown, fan, hum, pink, ring, slam, walk } from '../../voices/noises.ts';
import { atLevel } from '../../voices/room.ts';
import { expectHeard, expectNoSpeech, highest, RATE_HZ, scores } from './talk-scores.ts';

describe('the detector of a person who speaks', () => {
  it('needs more than a second before it gives a score', () => {
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
    await expectHeard(levelDb, roomDb);
  });

  it.each([8000, 44_100])('hears speech at %i samples a second', async (rateHz) => {
    await expectHeard(-25, -55, rateHz);
  });

  it('accepts digital silence, full scale and a DC offset', () => {
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
  ])('does not take %s as speech', (_, make) => {
    const sound = atLevel(make(20 * RATE_HZ, createDice(70)), -30);
    expect(highest(scores(sound))).toBeLessThan(0);
  });

  it.each([
    ['slammed doors', -14, slam],
    ['steps', -26, walk],
    ['phones', -24, ring],
  ])('never takes half a minute of %s as speech', (_, levelDb, make) => {
    expectNoSpeech(30, levelDb, make);
  });
});
