import { beforeAll, describe, expect, it } from 'vitest';
import { createEchoFilter } from '../../../src/adapters/echo/echo-filter.ts';
import { cancellerBlock } from '../../../src/sound/canceller/canceller-filter.ts';
import { toPcm } from '../../../src/sound/pcm.ts';
import { VOICE_RATE_HZ } from '../../acoustics.ts';
import { clean, type Left } from './filtered-room.ts';
import { expectAsGood, expectRest, expectUnheard, talkWithSilence, withVisitor } from './resting-filter.ts';

let people: Float32Array;
/** One conversation for all tests; an empty room is in `rest.long.test.ts`. */
let visited: ReturnType<typeof withVisitor>;
let left: Left;
beforeAll(async () => {
  const talk = await talkWithSilence();
  people = talk.people;
  visited = withVisitor(talk);
  left = await clean(visited);
});

describe('a resting echo filter', () => {
  it.each([8000, 16_000, 24_000, 48_000])(
    'returns the same samples of %i Hz with the usual delay',
    async (rateHz) => {
      const filter = createEchoFilter({ heardRateHz: rateHz, playedRateHz: VOICE_RATE_HZ });
      const given = Buffer.from(toPcm(people.subarray(0, rateHz * 2)));
      const pieces: Uint8Array[] = [];
      const pieceBytes = (rateHz / 50) * 2;
      for (let at = 0; at < given.byteLength; at += pieceBytes) {
        const capturedAt = ((at + pieceBytes) * 500) / rateHz;
        pieces.push(filter.filter(Uint8Array.from(given.subarray(at, at + pieceBytes)), capturedAt).pcm);
      }
      expect(filter.rests).toBe(true);
      const late = 2 * cancellerBlock(rateHz);
      const taken = Buffer.concat(pieces);
      expect(taken.subarray(0, late)).toEqual(Buffer.alloc(late));
      expect(taken.subarray(late).equals(given.subarray(0, given.byteLength - late))).toBe(true);
    },
  );

  it('rests from two seconds after the loudspeaker’s end until its next sound', () => {
    expectRest(left);
  });

  it('is as good as before after the rest', () => {
    expectAsGood(visited, left);
  });

  it('changes state within a word without an audible step', () => {
    expectUnheard(visited, left);
  });
});
