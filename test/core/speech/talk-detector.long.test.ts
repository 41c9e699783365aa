import { describe, expect, it } from 'vitest';
import { createDice } from '../../sim/dice.ts';
import { brown, diceFor, fan, happen, hum, pink, ring, slam, walk } from '../../voices/noises.ts';
import { atLevel, mixIn } from '../../voices/room.ts';
import { expectHeard, expectNoSpeech, highest, RATE_HZ, scores } from './talk-scores.ts';

describe('what tells somebody who speaks from a room', () => {
  it.each([8000, 16_000, 22_050, 44_100, 48_000])('hears them at %i samples a second', async (rateHz) => {
    await expectHeard(-25, -55, rateHz);
  });

  it.each([
    ['a fan', fan],
    ['hum', hum],
    ['brown noise', brown],
    ['pink noise', pink],
  ])('takes %s for no speech, at any level', (_, make) => {
    for (const levelDb of [-50, -30, -10]) {
      const sound = atLevel(make(40 * RATE_HZ, createDice(levelDb + 100)), levelDb);
      expect(highest(scores(sound))).toBeLessThan(0);
    }
  });

  it('takes no machine for speech that is switched on in the place of another', () => {
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
  ])('takes none of a minute of %s for speech', (_, levelDb, make) => {
    expectNoSpeech(60, levelDb, make);
  });

  it.each([
    ['slammed doors', -14, slam],
    ['steps', -26, walk],
    ['phones', -24, ring],
  ])('hardly ever takes %s for speech', (_, levelDb, make) => {
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
  ])('takes no door for speech whose echo turns like a voice (%i, %i)', (seed, stretch, levelDb) => {
    const sound = happen(72 * RATE_HZ, diceFor(seed, 'slams', stretch), -14, slam);
    expect(highest(scores(atLevel(sound, levelDb, -14)))).toBeLessThan(0);
  });
});
