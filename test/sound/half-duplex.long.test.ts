import { beforeAll, describe, it } from 'vitest';
import { type Conversation, converse, expectNothingPasses, expectTailEnough } from './half-duplex.ts';

let conversation: Conversation;
beforeAll(async () => {
  conversation = await converse();
});

const grid = [20, 70, 150, 250, 400].flatMap((delayMs, row) =>
  (row % 2 ? [-10, -20] : [0, -30]).map((gainDb) => ({ delayMs, gainDb, rt60S: 0.5 })),
);

describe('half-duplex', () => {
  it.each(grid)('passes no loudspeaker sound after a measurement: $delayMs ms and $gainDb dB', (path) => {
    expectNothingPasses(conversation, path);
  });

  it.each([
    [20, -12],
    [20, -30],
    [200, -12],
    [200, -30],
  ])('has a long enough tail without a measurement: %i ms and %i dB', (delayMs, gainDb) => {
    expectTailEnough(conversation, delayMs, gainDb);
  });
});
