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
  it('leaves a visitor alone while nothing is played, and every sound in its place', async () => {
    await expectLeftAlone(talk.people);
  });

  // How the words lie against the canceller's blocks changes nothing.
  it.each([
    ...PATHS.map((path) => ({ ...path, beginMs: 0 })),
    ...[10, 30].map((beginMs) => ({ delayMs: 20, gainDb: -6, rt60S: 0.3, beginMs })),
  ])(
    'takes out an echo of $delayMs ms and $gainDb dB, of words that begin $beginMs ms later',
    async ({ beginMs, ...path }) => {
      await expectTakenOut(talk, path, beginMs);
    },
  );

  it.each(PATHS)(
    'lets a visitor through who speaks over an echo of $delayMs ms and $gainDb dB',
    async (path) => {
      await expectLetThrough(talk, path);
    },
  );

  it('keeps up with a loudspeaker whose clock is 300 ppm off, and with times that waver', async () => {
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
