import { beforeAll, describe, it } from 'vitest';
import type { Talk } from '../../acoustics.ts';
import { clean } from './filtered-room.ts';
import {
  expectAsGood,
  expectRest,
  expectUnheard,
  talkWithSilence,
  withoutVisitor,
  withVisitor,
} from './resting-filter.ts';

let talk: Talk;
beforeAll(async () => {
  talk = await talkWithSilence();
});

describe('a resting echo filter', () => {
  it('rests while only the room is heard', async () => {
    expectRest(await clean({ played: talk.said, heard: talk.room }));
  });

  it('is as good as before after a silence without speech', async () => {
    const echo = withoutVisitor(talk);
    expectAsGood(echo, await clean(echo));
  });

  it('changes state within a word without an audible step', async () => {
    const visited = withVisitor(talk);
    expectUnheard(visited, await clean(visited));
  });
});
