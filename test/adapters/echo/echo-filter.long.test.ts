import { beforeAll, describe, expect, it } from 'vitest';
import { type Path, type Talk, through, together } from '../../acoustics.ts';
import { clean, lossDb } from './filtered-room.ts';
import { expectLeftAlone, expectLetThrough, expectTakenOut, loadTalk, SECONDS } from './filtered-talk.ts';

let talk: Talk;
beforeAll(async () => {
  talk = await loadTalk();
});

const PATHS: Path[] = [
  { delayMs: 20, gainDb: -6, rt60S: 0.3 },
  { delayMs: 120, gainDb: -12, rt60S: 0.4 },
  { delayMs: 250, gainDb: -20, rt60S: 0.4 },
  { delayMs: 400, gainDb: 0, rt60S: 0.5 },
];

describe('the echo filter', () => {
  it('does not change or move a visitor’s speech while nothing is played', async () => {
    await expectLeftAlone(talk.people);
  });

  // The position of the words relative to the canceller's blocks does not matter.
  it.each([
    ...PATHS.map((path) => ({ ...path, beginMs: 0 })),
    ...[10, 30].map((beginMs) => ({ delayMs: 20, gainDb: -6, rt60S: 0.3, beginMs })),
  ])(
    'removes an echo of $delayMs ms and $gainDb dB, of words that begin $beginMs ms later',
    async ({ beginMs, ...path }) => {
      await expectTakenOut(talk, path, beginMs);
    },
  );

  it.each(PATHS)('keeps a visitor’s speech during an echo of $delayMs ms and $gainDb dB', async (path) => {
    await expectLetThrough(talk, path);
  });

  it('follows a loudspeaker whose clock is 300 ppm off, with varying times', async () => {
    const { said, room } = talk;
    const path = { delayMs: 150, gainDb: -10, rt60S: 0.3 };
    const heard = together(through(path, said), room);
    let wobble = 0;
    const { left } = await clean({
      played: said,
      heard,
      playedTime: (at) => at * (1 + 300e-6) + (wobble++ % 3) - 1,
    });
    expect(lossDb(heard, left, 5, SECONDS)).toBeGreaterThan(12);
  });
});
