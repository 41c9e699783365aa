import { expect, it } from 'vitest';
import { keyOf } from './command-flood.ts';
import { cutsInWords, outcomesOfCuts } from './virtual/power-cuts.ts';
import type { Report } from './virtual/report.ts';

it('names a command that was answered before a power cut and forgotten after it', () => {
  const cut = (number: number): Report => ({
    kind: 'cut',
    sent: [0, 1, 2].map((place) => `${number}-${place}`),
    answered: [0, 1].map((place) => `${number}-${place}`),
  });
  const survived = (liveS: number, remembered: readonly (readonly [string, string])[]): Report => ({
    kind: 'survived',
    liveS,
    isDoneTwice: false,
    damage: [],
    restarts: 0,
    remembered: remembered.map(([id, status]) => [keyOf(id), status]),
  });
  const whole = survived(30, [
    ['1-0', 'ok'],
    ['1-1', 'ok'],
    ['1-2', 'error'],
  ]);
  // On the disk one command has only begun, and the one before it is missing.
  const flawed = survived(20, [['2-1', 'error']]);
  const outcomes = outcomesOfCuts([cut(1), whole, cut(2), flawed, cut(3)]);
  expect(outcomes.map(({ forgotten }) => forgotten)).toEqual([[], ['2-0', '2-1']]);
  expect(outcomes.map(({ sent, answered, interrupted }) => [sent, answered, interrupted])).toEqual([
    [3, 2, 1],
    [3, 2, 1],
  ]);
  expect(cutsInWords(outcomes)).toBe(
    '2 cuts, 6 commands: 4 had been answered, 2 were interrupted; live after 30.0 s (median), 30.0 s at most',
  );
});
