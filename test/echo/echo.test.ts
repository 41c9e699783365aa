import { beforeAll, describe, expect, it } from 'vitest';
import { CELL, loadVoices } from './cancelling.ts';
import { fallbacks, GOALS, judgeVisitor } from './judge.ts';
import { perform, type Voices } from './perform.ts';

let voices: Voices;
beforeAll(async () => {
  voices = await loadVoices();
});

/** What `npm run echo` does with recorded people, in small. */
describe('a lane that cancels its echo', () => {
  it('sends a visitor who is as loud as the echo', async () => {
    const performance = await perform({ ...CELL, seconds: 20, visitorDb: 0, visitorFromS: 8 }, voices, 1);
    const { sent = 0, levelDb = -99 } = judgeVisitor(performance) ?? {};
    expect(sent).toBeGreaterThan(GOALS.sent);
    expect(Math.abs(levelDb)).toBeLessThan(GOALS.levelDb);
    expect(fallbacks(performance)).toBe(0);
  });

  it('leaves a visitor alone where no echo is to be heard', async () => {
    const performance = await perform(
      { ...CELL, seconds: 12, gainDb: -80, visitorDb: 68, visitorFromS: 4 },
      voices,
      1,
    );
    const { sent = 0, levelDb = -99 } = judgeVisitor(performance) ?? {};
    expect(sent).toBeGreaterThan(0.99);
    expect(Math.abs(levelDb)).toBeLessThan(0.5);
  });
});
