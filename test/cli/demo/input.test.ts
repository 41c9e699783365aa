import { describe, expect, it } from 'vitest';
import { waitAtPauses } from '../../../src/cli/demo/input.ts';
import type { Capture, CaptureSink } from '../../../src/ports/audio.ts';

const piece = (level: number): Uint8Array => new Uint8Array(new Int16Array(480).fill(level).buffer);
const levelOf = (pcm: Uint8Array): number => new Int16Array(pcm.slice().buffer)[0] ?? Number.NaN;

/** A visitor whose pieces have these levels, then silence; asked to wait from piece to piece. */
async function hear(levels: readonly number[], isAsked: (index: number) => boolean, total: number) {
  const heard: (number | 'end')[] = [];
  let index = 0;
  let source: CaptureSink | null = null;
  const open = waitAtPauses(
    async (sink): Promise<Capture> => {
      source = sink;
      return { close: async () => {} } as Capture;
    },
    () => isAsked(index),
  );
  await open({ frames: (pcm) => heard.push(levelOf(pcm)), ended: () => heard.push('end'), fault() {} });
  for (; index < total; index++) {
    (source as CaptureSink | null)?.frames(piece(levels[index] ?? 0), index);
    if (index === levels.length - 1) (source as CaptureSink | null)?.ended();
  }
  return heard;
}

describe('the visitor of a recording', () => {
  it('is heard as recorded when nothing asks them to wait', async () => {
    expect(await hear([900, 0, 800], () => false, 4)).toEqual([900, 0, 800, 'end', 0]);
  });

  it('ends a word, waits in the pause, and then says everything else', async () => {
    const heard = await hear([900, 901, 0, 800, 801], (index) => index >= 1 && index <= 4, 8);
    expect(heard).toEqual([900, 901, 0, 0, 0, 0, 800, 801, 'end']);
  });
});
