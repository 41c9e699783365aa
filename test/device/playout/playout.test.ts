import { describe, expect, it } from 'vitest';
import {
  advance,
  flush,
  heardLately,
  isPlaying,
  SILENT_PLAYOUT,
} from '../../../src/device/playout/playout.ts';
import { readTags, tagged } from '../lane/sound.ts';
import { FORMAT, PlayoutHarness, START, WORDS_PER_MS } from './playout-harness.ts';
import { testAnyInput } from './playout-tests.ts';

describe('playout', () => {
  it('plays a sentence that comes as a burst whole, in order and at its own pace', () => {
    const playout = new PlayoutHarness();
    for (let i = 0; i < 15; i++) playout.arrive('a', 200, i === 14);
    expect(playout.writtenMs).toBeLessThanOrEqual(300);
    playout.pass(2900);
    const words = playout.writes.flatMap(({ pcm }) => readTags(pcm).map(({ word }) => word));
    expect(words).toEqual(Array.from({ length: 3000 * WORDS_PER_MS }, (_, i) => i));
    expect(playout.playout.heard).toEqual({ from: START, until: START + 3000 });
    expect(playout.playout.utterances).toEqual([]);
    expect(isPlaying(playout.playout, playout.now)).toBe(true);
    expect(isPlaying(playout.playout, playout.now + 100)).toBe(false);
  });

  it('writes a little ahead and leaves no gap while there is sound', () => {
    const playout = new PlayoutHarness().arrive('a', 5000);
    let until = START;
    for (let i = 0; i < 48; i++) {
      playout.pass(100);
      until = playout.playout.heard?.until ?? 0;
      expect(until - playout.now).toBeGreaterThanOrEqual(100);
      expect(until - playout.now).toBeLessThanOrEqual(300);
    }
  });

  it('writes all that fits at once, and no more until a third of it is left', () => {
    const playout = new PlayoutHarness();
    const written = (): number[][] =>
      playout.writes.map(({ at, pcm }) => [at - START, pcm.byteLength / FORMAT.bytesPerMs]);
    for (let i = 0; i < 15; i++) playout.arrive('a', 40, i === 14);
    expect(written()).toEqual([
      [0, 40],
      [0, 40],
      [0, 40],
    ]);
    playout.pass(600);
    expect(written().slice(3)).toEqual([
      [20, 200],
      [220, 200],
      [420, 80],
    ]);
  });

  it('writes soon-due sound earlier when the event loop is awake anyway', () => {
    const playout = new PlayoutHarness().arrive('a', 2000, true).pass(100);
    const soon = (ms: number): number[] =>
      advance(playout.playout, playout.now, FORMAT, ms).writes.map(
        ({ pcm }) => pcm.byteLength / FORMAT.bytesPerMs,
      );
    expect(soon(99)).toEqual([]);
    expect(soon(100)).toEqual([100]);
    playout.now -= 1;
    // Many small writes would be too much work.
    expect(soon(10_000)).toEqual([]);
  });

  it('plays sentences one after the other when their chunks arrive interleaved', () => {
    const playout = new PlayoutHarness();
    for (let i = 0; i < 5; i++) playout.arrive('a', 200, i === 4).arrive('b', 200, i === 4);
    expect(playout.pass(3000).order).toBe('ab');
    expect(playout.writtenMs).toBe(2000);
  });

  it('plays two languages one after the other when only the language names their sentences', () => {
    const playout = new PlayoutHarness();
    const sound = (of: number, from: number): Uint8Array =>
      tagged(of, from * 200 * WORDS_PER_MS, 200 * WORDS_PER_MS);
    for (let i = 0; i < 5; i++)
      playout
        .take(1, '', sound(1, i), i === 4, 'de')
        .take(1, '', sound(2, i), i === 4, 'it')
        .pass(100);
    playout.pass(3000);
    const heard = playout.spoken.flatMap(({ pcm }) => readTags(pcm).map(({ sentence }) => sentence));
    expect(heard.filter((one, i) => one !== heard[i - 1])).toEqual([1, 2]);
    expect(playout.writtenMs).toBe(2000);
  });

  it('holds the next sentence until the first is complete', () => {
    const playout = new PlayoutHarness().arrive('a', 200).arrive('b', 200, true).pass(300);
    expect(playout.order).toBe('a');
    expect(playout.arrive('a', 200, true).pass(1000).order).toBe('ab');
  });

  it('takes an empty chunk as an end mark', () => {
    const playout = new PlayoutHarness().arrive('a', 200).arrive('b', 200).arrive('a', 0, true);
    expect(playout.pass(300).order).toBe('ab');
  });

  it('ignores an end mark of an unknown sentence', () => {
    expect(new PlayoutHarness().arrive('a', 0, true).playout).toEqual(SILENT_PLAYOUT);
  });

  it('waits no longer than 0.4 s for an end mark that never comes', () => {
    const playout = new PlayoutHarness().arrive('a', 200).arrive('b', 200).pass(599);
    expect(playout.order).toBe('a');
    expect(playout.pass(2).order).toBe('ab');
    expect(playout.playout.heard?.from).toBe(START + 600);
  });

  it('waits without limit when no other sentence waits', () => {
    const playout = new PlayoutHarness().arrive('a', 200).pass(200);
    expect(playout.look()).toBeNull();
    expect(playout.pass(20_000).arrive('a', 200).pass(300).order).toBe('a');
    expect(playout.writtenMs).toBe(400);
  });

  it('plays the late rest of a skipped sentence after the current one', () => {
    const playout = new PlayoutHarness().arrive('a', 200).arrive('b', 1000).pass(700).arrive('a', 100, true);
    expect(playout.arrive('b', 0, true).pass(3000).order).toBe('aba');
  });

  it('begins the next sentence with the same name when the last one is over (services without names)', () => {
    const playout = new PlayoutHarness().arrive('', 200, true).pass(1000).arrive('', 200, true).pass(1000);
    expect(playout.writtenMs).toBe(400);
    expect(heardLately(playout.playout)).toEqual([
      { from: START, until: START + 200 },
      { from: START + 1000, until: START + 1200 },
    ]);
  });

  it('reports the latency only for sound that found the loudspeaker idle', () => {
    const playout = new PlayoutHarness().arrive('a', 450).pass(1000).arrive('a', 450).pass(1000);
    const latencies = playout.writes.map(({ receivedAt, at }) =>
      receivedAt === null ? null : at - receivedAt,
    );
    expect(latencies).toEqual([0, null, 0, null]);
  });

  it('counts the loudspeaker as idle from the moment at which it falls silent', () => {
    const playout = new PlayoutHarness()
      .arrive('a', 100)
      .pass(99)
      .arrive('a', 100)
      .pass(101)
      .arrive('a', 100);
    expect(playout.writes.map(({ receivedAt }) => receivedAt)).toEqual([START, null, START + 200]);
  });

  it('is heard in one stretch over a short gap, and in two over a longer one', () => {
    expect(new PlayoutHarness().arrive('a', 200).pass(499).arrive('a', 200, true).playout.heard?.from).toBe(
      START,
    );
    const apart = new PlayoutHarness().arrive('a', 200).pass(500).arrive('a', 200, true).playout;
    expect(apart.heard?.from).toBe(START + 500);
    expect(apart.earlier).toEqual([{ from: START, until: START + 200 }]);
  });

  it('remembers a limited number of stretches', () => {
    const playout = new PlayoutHarness();
    for (let i = 0; i < 40; i++) playout.arrive('a', 100).pass(1000);
    expect(heardLately(playout.playout)).toHaveLength(17);
    expect(heardLately(playout.playout).at(-1)).toEqual(playout.playout.heard);
    expect(heardLately(SILENT_PLAYOUT)).toEqual([]);
  });
});

describe('a playout that is too long', () => {
  const TOO_LONG_MS = 61_000;

  it('drops the oldest sentence that has not begun, whole', () => {
    const playout = new PlayoutHarness()
      .arrive('a', 10_000)
      .arrive('b', 20_000)
      .arrive('c', 20_000)
      .arrive('d', 20_000);
    expect(playout.playout.utterances.map(({ key }) => key).join('')).toBe('acd');
    expect(playout.playout.droppedBytes).toBe(20_000 * FORMAT.bytesPerMs);
  });

  it('drops the first one only when it alone is too long', () => {
    const playout = new PlayoutHarness().arrive('a', TOO_LONG_MS);
    expect(playout.playout.utterances).toEqual([]);
    expect(playout.playout.queuedBytes).toBe(0);
    expect(playout.arrive('a', 200, true).writtenMs).toBe(0);
    expect(playout.arrive('a', 200).writtenMs).toBeGreaterThan(0);
  });

  it('holds at most a minute', () => {
    expect(new PlayoutHarness().arrive('a', 60_000).playout.droppedBytes).toBe(0);
    expect(new PlayoutHarness().arrive('a', 60_001).playout.droppedBytes).toBe(60_001 * FORMAT.bytesPerMs);
  });
});

describe('flush', () => {
  it('drops unheard sound, and sound written ahead is not heard either', () => {
    const playout = new PlayoutHarness().arrive('a', 2000).arrive('b', 1000).pass(500);
    const flushed = flush(playout.playout, playout.now);
    expect(flushed.utterances).toEqual([]);
    expect(flushed.queuedBytes).toBe(0);
    expect(flushed.droppedBytes).toBe(playout.playout.queuedBytes);
    expect(flushed.heard).toEqual({ from: START, until: playout.now });
    expect(isPlaying(flushed, playout.now)).toBe(false);
  });

  it('does not prolong past sound, and does nothing in silence', () => {
    const playout = new PlayoutHarness().arrive('a', 200, true).pass(5000);
    expect(flush(playout.playout, playout.now).heard).toEqual({ from: START, until: START + 200 });
    expect(flush(SILENT_PLAYOUT, 5)).toEqual(SILENT_PLAYOUT);
    expect(isPlaying(SILENT_PLAYOUT, 5)).toBe(false);
  });
});

describe('two sessions at once', () => {
  it('are heard one after the other, the older one first, and no sentence is cut', () => {
    const playout = new PlayoutHarness();
    playout
      .arrive('a/1', 500, true)
      .arrive('x/2', 500, true)
      .arrive('b/1', 500, true)
      .arrive('y/2', 500, true);
    playout.pass(3000);
    expect(playout.order).toBe('a/1b/1x/2y/2');
  });

  it("play the newer one's sentence to its end when it has begun", () => {
    const playout = new PlayoutHarness();
    playout.arrive('x/2', 500).arrive('a/1', 500, true).arrive('x/2', 500, true).arrive('y/2', 500, true);
    playout.pass(4000);
    expect(playout.order).toBe('x/2a/1y/2');
  });
});

describe('with any input', () => testAnyInput(12));
