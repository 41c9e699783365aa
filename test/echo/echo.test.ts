import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { interpreter, VOICE_RATE_HZ, visitors } from '../acoustics.ts';
import type { Dice } from '../sim/dice.ts';
import type { Cell } from './cell.ts';
import { fallbacks, GOALS, judgeEcho, judgeVisitor } from './judge.ts';
import { perform, type Voices } from './perform.ts';

const SENTENCES = fileURLToPath(new URL('../../src/cli/demo/visitor.json', import.meta.url));
const CELL: Cell = { name: 'test', delayMs: 100, gainDb: -12, rt60S: 0.4, ppm: 300, seconds: 16 };

let voices: Voices;
beforeAll(async () => {
  const people = await visitors();
  const service = interpreter(people, { shift: 0.8, beginS: 0 });
  const { sentences } = JSON.parse(await readFile(SENTENCES, 'utf8')) as {
    sentences: { start: number; end: number }[];
  };
  const spans = sentences.filter(({ start, end }) => end - start >= 1.5);
  const from = (sound: Float32Array, dice: Dice): Float32Array => {
    const { start, end } = spans[dice.whole(0, spans.length - 1)] ?? { start: 0, end: 2 };
    return sound.slice(Math.round(start * VOICE_RATE_HZ), Math.round(end * VOICE_RATE_HZ));
  };
  voices = { loudspeaker: (dice) => from(service, dice), visitor: (dice) => from(people, dice) };
});

/** What `npm run echo` does with recorded people, in small. */
describe('a lane that cancels its echo', () => {
  it.each([
    { delayMs: 20, gainDb: 0, ppm: -300 },
    { delayMs: 300, gainDb: -12, ppm: 300 },
  ])('takes it out from the second sentence on: $delayMs ms, $gainDb dB, $ppm ppm', async (path) => {
    const performance = await perform({ ...CELL, ...path }, voices, 1);
    const [, ...later] = judgeEcho(performance);
    expect(later.length).toBeGreaterThan(2);
    expect(later.filter(({ isGood }) => !isGood)).toEqual([]);
    expect(fallbacks(performance)).toBe(0);
  });

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
