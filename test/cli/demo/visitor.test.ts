import { describe, expect, it } from 'vitest';
import { createVisitor, speakInTurn } from '../../../src/cli/demo/visitor.ts';
import type { Capture, CaptureSink } from '../../../src/ports/audio.ts';
import type { ScreenAction } from '../../../src/protocol/screen.ts';
import { captionStep, LANE, laneStep } from './made-up.ts';

const OFFER = ['es', 'fr'];
const TALK = { startedAt: 0, notice: null, endingAt: null };

/** A visitor at a desk whose conversations begin and end by the touches. */
function visit() {
  const visitor = createVisitor({ lane: 'main', offer: OFFER }, 0);
  const touches: [number, ScreenAction][] = [];
  let isTalking = false;
  let now = 0;
  const turn = (next: boolean): void => {
    const [before, after] = [isTalking, next].map((one) => ({ ...LANE, conversation: one ? TALK : null }));
    isTalking = next;
    visitor.onStep({ ...laneStep(), before: before ?? LANE, after: after ?? LANE }, now);
  };
  return {
    visitor,
    touches,
    turn,
    say: (kind: 'source' | 'translation') => {
      const step = captionStep({ kind });
      const at = { ...LANE, conversation: isTalking ? TALK : null };
      visitor.onStep({ ...step, before: at, after: at }, now);
    },
    wait(ms: number): void {
      for (const end = now + ms; now < end; now += 100) {
        const touch = visitor.touch(now);
        if (touch === null) continue;
        touches.push([now, touch]);
        turn(touch.do !== 'end');
      }
    },
  };
}

describe('the visitor of the page', () => {
  it('chooses a language, speaks four sentences, reads back and leaves, again and again', () => {
    const { visitor, touches, say, wait } = visit();
    wait(5900);
    expect([touches, visitor.isSilent()]).toEqual([[], true]);
    wait(200);
    expect(touches).toEqual([[6000, { do: 'touch', lane: 'main' }]]);
    for (let sentence = 0; sentence < 4; sentence++) {
      expect(visitor.isSilent()).toBe(false);
      say('source');
      say('translation');
    }
    expect(visitor.isSilent()).toBe(true);
    wait(17_000);
    expect(touches).toHaveLength(1);
    wait(1500);
    expect(touches.slice(1)).toEqual([[24_100, { do: 'end' }]]);
    wait(6000);
    expect(touches.slice(2)).toEqual([[30_100, { do: 'language', lane: 'main', language: 'fr' }]]);
    expect(visitor.isSilent()).toBe(false);
    for (let sentence = 0; sentence < 4; sentence++) say('source');
    wait(24_500);
    expect(touches.slice(3).map(([, touch]) => touch)).toEqual([
      { do: 'end' },
      { do: 'touch', lane: 'main' },
    ]);
  });

  it('stays until the last sentence has been translated', () => {
    const { touches, say, wait } = visit();
    wait(6100);
    for (let sentence = 0; sentence < 4; sentence++) say('source');
    wait(10_000);
    say('translation');
    wait(17_500);
    expect(touches).toHaveLength(1);
    wait(1000);
    expect(touches).toHaveLength(2);
  });

  it('touches nothing for a minute when a person has used the page', () => {
    const { visitor, touches, turn, say, wait } = visit();
    visitor.onPerson(0);
    turn(true);
    for (let sentence = 0; sentence < 4; sentence++) say('source');
    wait(30_000);
    visitor.onPerson(30_000);
    turn(false);
    expect(visitor.isSilent()).toBe(true);
    // 60 s after the last touch, the invitation stands for another 6 s.
    wait(65_900);
    expect(touches).toEqual([]);
    wait(200);
    expect(touches).toHaveLength(1);
  });

  it('tries again when a touch had no effect', () => {
    const visitor = createVisitor({ lane: 'main', offer: OFFER }, 0);
    const moments = Array.from({ length: 300 }, (_, index) => index * 100);
    expect(moments.filter((now) => visitor.touch(now) !== null)).toEqual([6000, 12_000, 18_000, 24_000]);
  });
});

const RATE_HZ = 1000;
const levelOf = (pcm: Uint8Array): number => new Int16Array(pcm.slice().buffer)[0] ?? Number.NaN;

/** What a microphone hears, in pieces of 100 ms, of a recording with these levels. */
async function hear(levels: readonly number[], isSilent: (index: number) => boolean, total = levels.length) {
  const heard: number[] = [];
  const left = [...levels];
  let index = 0;
  let source: CaptureSink | null = null;
  const recording = {
    read: (samples: number) => new Uint8Array(new Int16Array(samples).fill(left.shift() ?? 0).buffer),
  };
  const open = async (sink: CaptureSink): Promise<Capture> => {
    source = sink;
    return { close: async () => {} };
  };
  const opened = speakInTurn(open, recording, RATE_HZ, () => isSilent(index));
  await opened({ frames: (pcm) => heard.push(levelOf(pcm)), ended() {}, fault() {} });
  for (; index < total; index++) (source as CaptureSink | null)?.frames(new Uint8Array(200).fill(99), index);
  return heard;
}

describe('a recording that is spoken in turn', () => {
  const pause = (ms: number, level = 3): number[] => new Array<number>(ms / 100).fill(level);

  it('ends its sentence, gives the noise of the room while it waits, and skips nothing', async () => {
    const before = [...pause(700), 900, ...pause(600), 901, ...pause(700, 4)];
    const after = [...pause(300, 5), 902, 903];
    const heard = await hear([...before, ...after], (index) => index >= 8 && index < 32, 37);
    expect(heard).toEqual([...before, ...pause(1000, 4), ...after]);
  });

  it('is silent from the beginning', async () => {
    expect(await hear([900, 901], (index) => index < 3, 5)).toEqual([0, 0, 0, 900, 901]);
  });
});
