import { expect, it } from 'vitest';
import { isNextPart } from './seams.ts';

/** A part of a translation, of 100 ticks. */
const part = (tick: number, deliveredTicks: number, more = {}) => ({
  ...{ stream: 'one', sentence: 'a', language: 'es', ticks: [tick], lengthTicks: 100, deliveredTicks },
  ...more,
});
const isNext = (other: ReturnType<typeof part>, isOver = true, own = part(2, 0)): boolean =>
  isNextPart([other, own], 2, () => isOver);

it('only the part behind one that came to its end, in one language of a stream that is over, is one of which nobody can know', () => {
  expect(isNext(part(1, 100))).toBe(true);
  expect(isNext(part(1, 99))).toBe(false);
  expect(isNext(part(1, 100), false)).toBe(false);
  expect(isNext(part(1, 100), true, part(2, 1))).toBe(false);
  for (const other of [{ sentence: 'b' }, { language: 'fr' }, { stream: 'two' }])
    expect(isNext(part(1, 100, other))).toBe(false);
  expect(isNextPart([part(1, 100), part(2, 0)], 3, () => true)).toBe(false);
});
