import { beforeAll, describe, expect, it } from 'vitest';
import { interpreter, together } from '../acoustics.ts';
import {
  type Conversation,
  conversation,
  describeDetector,
  describeOtherPieces,
  detect,
  findsEchoBehindSpeech,
  measuresEcho,
} from './detected-echo.ts';

let whole: Conversation;
beforeAll(async () => {
  whole = await conversation();
});
const heard = (): Conversation => whole;

const grid = [20, 70, 150, 250, 400, 480, 700, 850].flatMap((delayMs, row) =>
  (row % 2 ? [0, -20] : [-10, -30]).map((gainDb, column) => ({ delayMs, gainDb, rt60S: column ? 0.7 : 0.3 })),
);

describe('the echo detector', () => {
  measuresEcho(grid, heard);
  findsEchoBehindSpeech(
    [
      { delayMs: 150, gainDb: 0, rt60S: 0.3 },
      { delayMs: 250, gainDb: -10, rt60S: 0.3 },
      { delayMs: 70, gainDb: -20, rt60S: 0.3 },
    ],
    heard,
  );

  it.each([0.8, 1.3])('takes no other speech for an echo when a voice is shifted by %d', (shift) => {
    const { people, room } = heard();
    expect(detect(interpreter(people, { shift, beginS: 10 }), together(people, room))).toEqual([]);
  });

  it('takes no other speech for an echo, however much of it there is', () => {
    const { people, room } = heard();
    let measures = 0;
    for (let beginS = 2; beginS < 34; beginS += 8) {
      for (const shift of [0.8, 1.3]) {
        measures += detect(interpreter(people, { shift, beginS }), together(people, room)).length;
      }
    }
    // Nearly five minutes in which two people speak at once.
    expect(measures).toBeLessThanOrEqual(1);
  });
});
describeDetector(heard);
describeOtherPieces(heard, 4);
