import { describe, expect, it } from 'vitest';
import { createDice } from '../../sim/dice.ts';
import { brown, diceFor, fan, happen, hum, pink, ring, slam, walk } from '../../voices/noises.ts';
import { atLevel, mixIn } from '../../voices/room.ts';
import { expectHeard, expectNoSpeech, highest, RATE_HZ, scores } from './talk-scores.ts';

describe('the detector of a person who speaks', () => {
  it.each([8000, 16_000, 22_050, 44_100, 48_000])('hears speech at %i samples a second', async (rateHz) => {
    await expectHeard(-25, -55, rateHz);
  });

  it.each([
    ['a fan', fan],
    ['hum', hum],
    ['brown noise', brown],
    ['pink noise', pink],
  ])('does not take %s as speech, at any level', (_, make) => {
    for (const levelDb of [-50, -30, -10]) {
      const sound = atLevel(make(40 * RATE_HZ, createDice(levelDb + 100)), levelDb);
      expect(highest(scores(sound))).toBeLessThan(0);
    }
  });

  it('does not take a machine as speech that replaces another one', () => {
    for (let seed = 28; seed <= 30; seed++) {
      const dice = createDice(seed);
      const sound = new Float32Array(16 * RATE_HZ);
      mixIn(sound, atLevel(hum(8 * RATE_HZ, dice), dice.between(-50, -35)), 0);
      mixIn(sound, atLevel(hum(8 * RATE_HZ, dice), dice.between(-40, -25)), 8 * RATE_HZ);
      expect(highest(scores(sound)), `hum ${seed}`).toBeLessThan(0);
    }
  });

  it.each([
    ['slammed doors', -14, slam],
    ['steps', -26, walk],
    ['phones', -24, ring],
  ])('never takes a minute of %s as speech', (_, levelDb, make) => {
    expectNoSpeech(60, levelDb, make);
  });

  it.each([
    ['slammed doors', -14, slam],
    ['steps', -26, walk],
    ['phones', -24, ring],
  ])('hardly ever takes %s as speech', (_, levelDb, make) => {
    const sound = happen(600 * RATE_HZ, createDice(17), levelDb, make);
    const chunks = scores(sound);
    const mistaken = chunks.filter((score) => (score ?? -1) > 0).length;
    expect(mistaken / chunks.length).toBeLessThan(0.005);
  });

  it.each([
    [102, 8, -14],
    [101, 28, -20],
    [102, 34, -8],
    [102, 19, -20],
  ])('does not take a door as speech whose echo changes like a voice (%i, %i)', (seed, stretch, levelDb) => {
    const sound = happen(72 * RATE_HZ, diceFor(seed, 'slams', stretch), -14, slam);
    expect(highest(scores(atLevel(sound, levelDb, -14)))).toBeLessThan(0);
  });
});
