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
  partOf,
} from './detected-echo.ts';

/** Only the beginning; `echo-detector.long.test.ts` has all of it, and more paths. */
let part: Conversation;
beforeAll(async () => {
  part = partOf(await conversation(), 20);
});
const heard = (): Conversation => part;

describe('the echo detector', () => {
  measuresEcho(
    [
      { delayMs: 20, gainDb: -30, rt60S: 0.7 },
      { delayMs: 850, gainDb: -20, rt60S: 0.7 },
    ],
    heard,
  );
  findsEchoBehindSpeech([{ delayMs: 250, gainDb: -10, rt60S: 0.3 }], heard);

  it('takes no other speech for an echo', () => {
    const { people, room } = heard();
    expect(detect(interpreter(people, { shift: 1.3, beginS: 10 }), together(people, room))).toEqual([]);
  });
});
describeDetector(heard);
describeOtherPieces(heard, 2);
