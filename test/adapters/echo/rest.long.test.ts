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

describe('an echo filter that has nothing to do', () => {
  it('rests while nothing is heard but the room', async () => {
    expectRest(await clean({ played: talk.said, heard: talk.room }));
  });

  it('wakes as good as it was, behind a silence in which nobody speaks', async () => {
    const echo = withoutVisitor(talk);
    expectAsGood(echo, await clean(echo));
  });

  it('goes from one to the other in the middle of a word, and nobody hears it', async () => {
    const visited = withVisitor(talk);
    expectUnheard(visited, await clean(visited));
  });
});
