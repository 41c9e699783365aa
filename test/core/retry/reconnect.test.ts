import { describe, expect, it } from 'vitest';
import {
  beginReconnect,
  noteDown,
  noteUp,
  noteUrgency,
  type ReconnectState,
  SLOW_BACKOFF,
  STABLE_AFTER_MS,
  SUSPICIOUS_QUICK_CLOSES,
  tryMs,
  UNREACHABLE_BACKOFF,
  URGENT,
} from '../../../src/core/retry/reconnect.ts';

const UNREACHABLE = { problem: 'unreachable' } as const;
const KICKED = { problem: 'unreachable', silent: true } as const;

/** The longest waits of many devices after the same failures, one every `everyMs`. */
function longestWaits(times: number, everyMs: number): number[] {
  const longest: number[] = new Array(times).fill(0);
  for (let seed = 0; seed < 200; seed++) {
    let state = beginReconnect(seed * 7919);
    for (let i = 0; i < times; i++) {
      const down = noteDown(state, UNREACHABLE, i * everyMs);
      state = down.state;
      longest[i] = Math.max(longest[i] ?? 0, down.waitMs);
    }
  }
  return longest;
}

describe('the way back to the broker', () => {
  it('is tried soon after a short trouble, and more slowly the longer it lasts', () => {
    const waits = longestWaits(8, 30_000);
    for (const [i, wait] of waits.entries()) {
      const bound = Math.min(UNREACHABLE_BACKOFF.capMs, Math.max(UNREACHABLE_BACKOFF.baseMs, i * 30_000));
      expect(wait).toBeLessThanOrEqual(bound);
      expect(wait).toBeGreaterThan(bound * 0.9);
    }
  });

  it('is tried slowly where a person must fix something', () => {
    const { waitMs } = noteDown(beginReconnect(1), { problem: 'refused' }, 0);
    expect(waitMs).toBeGreaterThanOrEqual(SLOW_BACKOFF.floorMs);
    expect(waitMs).toBeLessThanOrEqual(SLOW_BACKOFF.baseMs);
  });

  it('begins anew after a connection that lasted, and not after one that did not', () => {
    const failing = noteDown(noteDown(beginReconnect(1), UNREACHABLE, 0).state, UNREACHABLE, 5000).state;
    expect(failing).toMatchObject({ failures: 2, troubleSince: 0 });
    const short = noteDown(noteUp(failing, 6000), UNREACHABLE, 6000 + STABLE_AFTER_MS - 1).state;
    expect(short).toMatchObject({ failures: 3, troubleSince: 0, upSince: null });
    const long = noteDown(noteUp(failing, 6000), UNREACHABLE, 6000 + STABLE_AFTER_MS).state;
    expect(long).toMatchObject({ failures: 1, troubleSince: 6000 + STABLE_AFTER_MS });
  });

  it('counts connections that are closed soon and without a word', () => {
    let state: ReconnectState = beginReconnect(1);
    for (let i = 0; i < SUSPICIOUS_QUICK_CLOSES; i++) {
      state = noteDown(noteUp(state, i * 1000), KICKED, i * 1000 + 10).state;
    }
    expect(state.quickCloses).toBe(SUSPICIOUS_QUICK_CLOSES);
    expect(noteDown(noteUp(state, 9000), UNREACHABLE, 9010).state.quickCloses).toBe(0);
    expect(noteDown(state, KICKED, 9010).state.quickCloses).toBe(0);
  });
});

describe('a line that is needed at once', () => {
  const LONG_OUTAGE_MS = 600_000;
  const seeds = Array.from({ length: 300 }, (_, index) => index * 7919);
  /** Ten minutes into an outage. */
  const tired = (seed: number): ReconnectState =>
    noteDown(noteDown(beginReconnect(seed), UNREACHABLE, 0).state, UNREACHABLE, LONG_OUTAGE_MS).state;

  it('is back within 15 s after the broker is: a try and the wait after it are short, and still spread', () => {
    const waits = seeds.map((seed) => {
      const { state } = noteUrgency(tired(seed), true, null, LONG_OUTAGE_MS);
      expect(tryMs(state)).toBe(URGENT.tryMs);
      return noteDown(state, UNREACHABLE, LONG_OUTAGE_MS + 1000).waitMs;
    });
    expect(Math.max(...waits) + URGENT.tryMs).toBeLessThanOrEqual(14_000);
    expect(Math.max(...waits)).toBeGreaterThan(5000);
    expect(Math.min(...waits)).toBeLessThan(1000);
  });

  it('does not wait for the end of a long wait', () => {
    const now = LONG_OUTAGE_MS + 20_000;
    const waits = seeds.map((seed) => {
      const { state, dueAt } = noteUrgency(tired(seed), true, now + 90_000, now);
      // Told again, it is not drawn again.
      expect(noteUrgency(state, true, dueAt, now).dueAt).toBe(dueAt);
      return (dueAt ?? now) - now;
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(URGENT.waitMs);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(5000);
    // A try that comes sooner anyway stays where it is.
    expect(noteUrgency(tired(1), true, now + 1, now).dueAt).toBe(now + 1);
  });

  it('is as patient as ever when the need is over', () => {
    const waits = seeds.map((seed) => {
      const urgent = noteUrgency(tired(seed), true, null, LONG_OUTAGE_MS).state;
      const { state } = noteUrgency(urgent, false, null, LONG_OUTAGE_MS);
      expect(tryMs(state)).toBeGreaterThan(URGENT.tryMs);
      return noteDown(state, UNREACHABLE, LONG_OUTAGE_MS).waitMs;
    });
    expect(Math.max(...waits)).toBeGreaterThan(100_000);
  });

  it.each(['refused', 'taken_over'] as const)('does not help where a person has to (%s)', (problem) => {
    const { state, waitMs } = noteDown(noteUrgency(beginReconnect(1), true, null, 0).state, { problem }, 0);
    expect(waitMs).toBeGreaterThanOrEqual(SLOW_BACKOFF.floorMs);
    const calm = noteUrgency(state, false, waitMs, 0).state;
    expect(noteUrgency(calm, true, waitMs, 0).dueAt).toBe(waitMs);
  });
});
