import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { interpreter, VOICE_RATE_HZ, visitors } from '../acoustics.ts';
import type { Dice } from '../sim/dice.ts';
import type { Cell } from './cell.ts';
import { fallbacks, GOALS, judgeEcho, judgeVisitor } from './judge.ts';
import { perform, type Voices } from './perform.ts';

const SENTENCES = fileURLToPath(new URL('../../src/cli/demo/visitor.json', import.meta.url));
export const CELL: Cell = { name: 'test', delayMs: 100, gainDb: -12, rt60S: 0.4, ppm: 300, seconds: 16 };

/** Sentences of the demo's recording, for the loudspeaker and for the visitor. */
export async function loadVoices(): Promise<Voices> {
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
  return { loudspeaker: (dice) => from(service, dice), visitor: (dice) => from(people, dice) };
}

/** Expects no echo from the second sentence on. */
export async function expectGone(voices: Voices, path: Partial<Cell>): Promise<void> {
  const performance = await perform({ ...CELL, ...path }, voices, 1);
  const [, ...later] = judgeEcho(performance);
  expect(later.length).toBeGreaterThan(2);
  expect(later.filter(({ isGood }) => !isGood)).toEqual([]);
  expect(fallbacks(performance)).toBe(0);
}

/** Expects that a visitor as loud as the echo is sent. */
export async function expectVisitorSent(
  voices: Voices,
  seconds: number,
  visitorFromS: number,
): Promise<void> {
  const performance = await perform({ ...CELL, seconds, visitorDb: 0, visitorFromS }, voices, 1);
  const { sent = 0, levelDb = -99 } = judgeVisitor(performance) ?? {};
  expect(sent).toBeGreaterThan(GOALS.sent);
  expect(Math.abs(levelDb)).toBeLessThan(GOALS.levelDb);
  expect(fallbacks(performance)).toBe(0);
}

/** Expects that a visitor is unchanged when there is no echo. */
export async function expectVisitorLeftAlone(voices: Voices): Promise<void> {
  const cell = { ...CELL, seconds: 12, gainDb: -80, visitorDb: 68, visitorFromS: 4 };
  const { sent = 0, levelDb = -99 } = judgeVisitor(await perform(cell, voices, 1)) ?? {};
  expect(sent).toBeGreaterThan(0.99);
  expect(Math.abs(levelDb)).toBeLessThan(0.5);
}
