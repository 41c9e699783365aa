import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { interpreter, VOICE_RATE_HZ, visitors } from '../acoustics.ts';
import type { Dice } from '../sim/dice.ts';
import type { Cell } from './cell.ts';
import { fallbacks, GOALS, judgeEcho, judgeFallback, judgeVisitor } from './judge.ts';
import { BLOCK_SAMPLES, type Performance, perform, type Voices } from './perform.ts';
import { judged, type Result } from './tables.ts';

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

/** For how long echo would be sent that can be understood, seconds. */
function leaksS({ blocks }: Performance, fromS: number, untilS: number): number {
  const loud = 10 ** (-45 / 10) * BLOCK_SAMPLES;
  let count = 0;
  for (let block = fromS * 100; block < untilS * 100; block++)
    if (blocks.isOpen[block] === 1 && (blocks.left[block] ?? 0) > loud) count += 1;
  return count / 100;
}

const NOTHING: Result = {
  ...{ name: 'test', sentences: [], breaksS: [], visit: null, fallbacks: 0, heardS: 0 },
  ...{ fellS: null, backS: null, driftPpm: 0, workMsPerS: 0 },
};

/** What `npm run echo` does with recorded people, in small. */
describe('a lane that cancels its echo', () => {
  it.each([
    { delayMs: 20, gainDb: 0, ppm: -300 },
    { delayMs: 300, gainDb: -12, ppm: 300 },
    { delayMs: 700, gainDb: -12, ppm: 100, seconds: 20 },
  ])('takes it out from the second sentence on: $delayMs ms, $gainDb dB, $ppm ppm', async (path) => {
    const performance = await perform({ ...CELL, ...path }, voices, 1);
    const [, ...later] = judgeEcho(performance);
    expect(later.length).toBeGreaterThan(2);
    expect(later.filter(({ isGood }) => !isGood)).toEqual([]);
    expect(fallbacks(performance)).toBe(0);
  });

  it('finds it again within a second of speech where the card ran dry, whatever was told at first', async () => {
    const performance = await perform({ ...CELL, seconds: 48, dryEveryS: 13 }, voices, 1);
    expect(performance.breaks.length).toBeGreaterThan(2);
    const sentences = judgeEcho(performance);
    const breaksS = performance.breaks.map((block) => block / 100);
    const some = judged({ ...NOTHING, sentences, breaksS }, null);
    expect(some.length).toBeGreaterThan(3);
    expect(some.filter(({ isGood }) => !isGood)).toEqual([]);
    expect(fallbacks(performance)).toBe(0);
  });

  it('falls back within seconds when it is switched off in secret', async () => {
    const off = { from: 24, until: 60 };
    const performance = await perform({ ...CELL, seconds: 60, off }, voices, 1);
    const { fellS } = judgeFallback(performance);
    expect(fellS).toBeGreaterThan(0);
    expect(fellS).toBeLessThan(30);
  });

  it('sends a visitor who is as loud as the echo', async () => {
    const performance = await perform({ ...CELL, seconds: 20, visitorDb: 0, visitorFromS: 8 }, voices, 1);
    const { sent = 0, levelDb = -99 } = judgeVisitor(performance) ?? {};
    expect(sent).toBeGreaterThan(GOALS.sent);
    expect(Math.abs(levelDb)).toBeLessThan(GOALS.levelDb);
    expect(fallbacks(performance)).toBe(0);
  });

  it.each([
    { name: 'turned up from nothing, and nobody tells', gainDb: -90, by: 78, delayMs: 0 },
    { name: 'another one, 90 ms later', gainDb: -12, by: 0, delayMs: 90 },
  ])('closes its gate where the loudspeaker is $name', async ({ gainDb, by, delayMs }) => {
    const change = { atS: 14, gainDb: by, delayMs, otherRoom: true };
    const performance = await perform({ ...CELL, ppm: 0, seconds: 50, gainDb, change }, voices, 1);
    // Until the echo is found, which takes a second or two of speech.
    expect(leaksS(performance, 0, 50)).toBeLessThan(1.5);
    expect(leaksS(performance, 25, 50)).toBe(0);
    const [, ...sentences] = judgeEcho(performance).filter(({ beganS }) => beganS > 22);
    expect(sentences.length).toBeGreaterThan(1);
    expect(sentences.filter(({ isGood }) => !isGood)).toEqual([]);
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
