import { describe, expect, it } from 'vitest';
import { testAnySentences } from './lag-tests.ts';
import { FORMAT, PlayoutHarness } from './playout-harness.ts';

const inMs = (bytes: number): number => bytes / FORMAT.bytesPerMs;
const keys = (playout: PlayoutHarness): string => playout.playout.utterances.map(({ key }) => key).join('');

describe('speech that lags', () => {
  it('drops the oldest sentences that have not begun, whole, and counts them', () => {
    const playout = new PlayoutHarness();
    for (const key of 'abcdef') playout.arrive(key, 7000, true);
    // a plays and f is the newest: of the four between, the oldest two are dropped.
    expect(keys(playout)).toBe('adef');
    expect(playout.playout.shed).toEqual({ sentences: 2, bytes: 14_000 * FORMAT.bytesPerMs });
    expect(playout.pass(60_000).order).toBe('adef');
    expect(playout.writtenMs).toBe(28_000);
  });

  it('is not detected in a long sentence, nor in a burst of sentences', () => {
    const long = new PlayoutHarness().arrive('a', 25_000).arrive('b', 25_000, true);
    expect(long.playout.shed.sentences).toBe(0);
    const burst = new PlayoutHarness();
    for (const key of 'abcde') burst.arrive(key, 5000, true);
    expect(burst.playout.shed.sentences).toBe(0);
  });

  it('is not detected in a rollover, where the older session plays first', () => {
    const playout = new PlayoutHarness();
    playout
      .arrive('a/1', 6000, true)
      .arrive('x/2', 6000, true)
      .arrive('b/1', 6000, true)
      .arrive('y/2', 6000, true);
    expect(playout.playout.shed.sentences).toBe(0);
    expect(playout.pass(30_000).order).toBe('a/1b/1x/2y/2');
  });

  it('never drops the current sentence, the newest one, or a chime', () => {
    const playout = new PlayoutHarness({ lagMs: 1000 }).arrive('a', 30_000).chime('line', 400);
    for (const key of 'bcdefg') playout.arrive(key, 3000, true);
    expect(keys(playout)).toBe('alineg');
    playout.arrive('a', 10_000, true).pass(60_000);
    expect(playout.order).toBe('ag');
    expect(playout.writtenMs).toBe(43_000);
  });

  it('keeps the rest of a dropped sentence unheard', () => {
    const playout = new PlayoutHarness({ lagMs: 1000 })
      .arrive('a', 5000, true)
      .arrive('b', 2000)
      .arrive('c', 2000, true);
    expect(keys(playout)).toBe('ac');
    playout.arrive('b', 500).arrive('b', 500, true).pass(20_000);
    expect(playout.order).toBe('ac');
    expect(inMs(playout.playout.droppedBytes)).toBe(3000);
    // Its name is free again after its end.
    expect(playout.arrive('b', 500, true).pass(1000).order).toBe('acb');
  });

  it('is limited for a service without sentence names, by the pauses in between', () => {
    const playout = new PlayoutHarness();
    for (let i = 0; i < 8; i++) {
      for (let piece = 0; piece < 20; piece++) playout.take(1, '', new Uint8Array(320 * 48).fill(i + 1));
      playout.pass(1500);
    }
    expect(playout.playout.shed.sentences).toBeGreaterThan(0);
    expect(inMs(playout.playout.queuedBytes)).toBeLessThan(6400 * 2 + 20_000);
  });

  it('keeps sound without names together when two streams speak at the same time', () => {
    const playout = new PlayoutHarness();
    const piece = (stream: number) => playout.take(stream, '', new Uint8Array(320 * 48).fill(stream));
    piece(2).pass(50);
    piece(1).pass(30);
    piece(2).pass(20);
    piece(1).pass(3000);
    expect(playout.spoken.map(({ pcm }) => pcm[0]).join('')).toMatch(/^2+1+$/);
  });

  it('has its own limit', () => {
    const playout = new PlayoutHarness({ lagMs: 60_000 });
    for (const key of 'abcdef') playout.arrive(key, 7000, true);
    expect(playout.playout.shed.sentences).toBe(0);
  });
});

describe('a chime of the lane', () => {
  it('waits for the end of the current sentence, and no longer', () => {
    const playout = new PlayoutHarness().arrive('a', 1000).arrive('b', 1000, true).chime('line', 300);
    playout.arrive('a', 500, true).pass(5000);
    expect(playout.writes.map(({ kind }) => kind[0]).join('')).toMatch(/^s{7}e{2}s{5}$/);
    expect(playout.order).toBe('ab');
  });

  it('is replaced by a newer one of its kind while it waits', () => {
    const playout = new PlayoutHarness().arrive('a', 1000, true);
    for (let i = 0; i < 50; i++) playout.chime('line', 300).chime('mute', 200);
    playout.pass(5000);
    const own = playout.writes.filter(({ kind }) => kind === 'earcon');
    expect(own.reduce((sum, { pcm }) => sum + inMs(pcm.byteLength), 0)).toBe(500);
    expect(playout.playout.queuedBytes).toBe(0);
  });

  it('is heard like any sound, but does not count as sound from the service', () => {
    const playout = new PlayoutHarness().chime('line', 300).pass(1000);
    expect(playout.playout.heard).toEqual({ from: 1000, until: 1300 });
    expect(playout.playout.writtenBytes).toBe(0);
    expect(playout.writes.every(({ receivedAt }) => receivedAt === null)).toBe(true);
  });

  it('is heard 0.4 s after a sentence whose sound stopped without an end mark', () => {
    const playout = new PlayoutHarness().arrive('a', 200).chime('line', 300);
    expect(playout.pass(599).writes.some(({ kind }) => kind === 'earcon')).toBe(false);
    expect(playout.pass(2).writes.some(({ kind }) => kind === 'earcon')).toBe(true);
  });
});

describe('with any input', () => testAnySentences(25));
