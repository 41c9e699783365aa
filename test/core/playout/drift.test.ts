import { describe, expect, it } from 'vitest';
import {
  advance,
  enqueue,
  type Playout,
  type PlayoutFormat,
  SILENT_PLAYOUT,
  tell,
} from '../../../src/core/playout/playout.ts';
import { FORMAT, PlayoutHarness } from './playout-harness.ts';

const CHUNK_MS = 320;
const MINUTE_MS = 60_000;

/**
 * A service that never pauses, and a loudspeaker whose clock is slower than the microphone's.
 * @returns how much is still to be heard when the next chunk comes: the most in each minute
 */
function lags(minutes: number, ppm: number, given: Partial<PlayoutFormat>): number[] {
  const format = { ...FORMAT, ...given };
  const most = Array.from({ length: minutes }, () => 0);
  const chunk = new Uint8Array(CHUNK_MS * format.bytesPerMs);
  let playout: Playout = SILENT_PLAYOUT;
  let until = 0;
  const look = (now: number): number => {
    const { writes, wakeAt, ...next } = advance(playout, now, format);
    playout = next.playout;
    for (const { pcm, write } of writes) {
      const from = Math.max(now, until);
      until = from + (pcm.byteLength / format.bytesPerMs) * (1 + ppm / 1e6);
      playout = tell(playout, { write, from, until });
    }
    return wakeAt ?? Number.POSITIVE_INFINITY;
  };
  for (let at = 0; at < minutes * MINUTE_MS; at += CHUNK_MS) {
    const minute = Math.floor(at / MINUTE_MS);
    const lag = playout.queuedBytes / format.bytesPerMs + Math.max(0, until - at);
    most[minute] = Math.max(most[minute] ?? 0, lag);
    playout = enqueue(playout, { stream: 1, key: 'a', pcm: chunk, receivedAt: at, complete: false }, format);
    for (let wakeAt = look(at); wakeAt < at + CHUNK_MS; wakeAt = look(wakeAt));
  }
  return most;
}

describe('sound without any pause', () => {
  it('does not fall behind a loudspeaker that is slower than the microphone, for hours', () => {
    const most = lags(240, 600, { quickens: true });
    expect(Math.max(...most)).toBeLessThan(1000);
    // What it holds in the end is not more than in the second hour.
    expect(Math.max(...most.slice(-60))).toBeLessThan(Math.max(...most.slice(60, 120)) + 5);
  });

  it('falls behind by the drift where nothing may be changed: a recording', () => {
    const most = lags(60, 600, { quickens: false });
    expect(most.at(-1)).toBeGreaterThan(2000);
  });

  it('is left as it is while the clocks agree', () => {
    const playout = new PlayoutHarness({ quickens: true });
    for (let i = 0; i < 300; i++) playout.arrive('a', CHUNK_MS).pass(CHUNK_MS);
    playout.pass(1000);
    expect(playout.writtenMs).toBe(300 * CHUNK_MS);
  });

  it('runs faster by no more than 0.3 %, and only after it has lagged for ten seconds', () => {
    const playout = new PlayoutHarness({ quickens: true }).arrive('a', 30_000, true);
    playout.pass(9900);
    // The first write fills the loudspeaker, each other one fills it up.
    expect(playout.writes.slice(1).every(({ pcm }) => pcm.byteLength === 200 * FORMAT.bytesPerMs)).toBe(true);
    const { length } = playout.writes;
    playout.pass(15_000);
    const quick = playout.writes.slice(length + 1);
    expect(quick.length).toBeGreaterThan(50);
    for (const { pcm } of quick) expect(pcm.byteLength).toBe((4800 - 14) * 2);
  });

  it('is whole again when it has caught up', () => {
    const playout = new PlayoutHarness({ quickens: true }).arrive('a', 15_000, true).pass(20_000);
    expect(playout.writtenMs).toBeLessThan(15_000);
    expect(playout.writtenMs).toBeGreaterThan(15_000 * 0.997);
    expect(playout.playout.queuedBytes).toBe(0);
    const { length } = playout.writes;
    playout.arrive('b', 1000, true).pass(2000);
    expect(playout.writes.slice(length).reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(48_000);
  });
});
