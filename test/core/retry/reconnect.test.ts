import { describe, expect, it } from 'vitest';
import {
  beginReconnect,
  type ConnectionEnding,
  noteDown,
  noteOther,
  noteUp,
  noteUrgency,
  type ReconnectState,
  SLOW_BACKOFF,
  STABLE_AFTER_MS,
  SUSPICIOUS_QUICK_CLOSES,
  TAKEN_OVER_BACKOFF,
  tryMs,
  UNDISPUTED_AFTER_MS,
  UNREACHABLE_BACKOFF,
  URGENT,
} from '../../../src/core/retry/reconnect.ts';

const UNREACHABLE = { problem: 'unreachable', protocol: 5 } as const;
const KICKED = { problem: 'unreachable', silent: true, protocol: 4 } as const;

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

describe('the reconnect to the broker', () => {
  it('is tried soon after a short trouble, and more slowly the longer it lasts', () => {
    const waits = longestWaits(8, 30_000);
    for (const [i, wait] of waits.entries()) {
      const bound = Math.min(UNREACHABLE_BACKOFF.capMs, Math.max(UNREACHABLE_BACKOFF.baseMs, i * 30_000));
      expect(wait).toBeLessThanOrEqual(bound);
      expect(wait).toBeGreaterThan(bound * 0.9);
    }
  });

  it('is tried slowly when a person must fix something', () => {
    const { waitMs } = noteDown(beginReconnect(1), { problem: 'refused', protocol: 5 }, 0);
    expect(waitMs).toBeGreaterThanOrEqual(SLOW_BACKOFF.floorMs);
    expect(waitMs).toBeLessThanOrEqual(SLOW_BACKOFF.baseMs);
  });

  it('starts over after a stable connection, and not after an unstable one', () => {
    const failing = noteDown(noteDown(beginReconnect(1), UNREACHABLE, 0).state, UNREACHABLE, 5000).state;
    expect(failing).toMatchObject({ failures: 2, troubleSince: 0 });
    const short = noteDown(noteUp(failing, 6000), UNREACHABLE, 6000 + STABLE_AFTER_MS - 1).state;
    expect(short).toMatchObject({ failures: 3, troubleSince: 0, upSince: null });
    const long = noteDown(noteUp(failing, 6000), UNREACHABLE, 6000 + STABLE_AFTER_MS).state;
    expect(long).toMatchObject({ failures: 1, troubleSince: 6000 + STABLE_AFTER_MS });
  });

  it('counts connections that are closed soon without a reason', () => {
    let state: ReconnectState = beginReconnect(1);
    for (let i = 0; i < SUSPICIOUS_QUICK_CLOSES; i++) {
      state = noteDown(noteUp(state, i * 1000), KICKED, i * 1000 + 10).state;
    }
    expect(state.quickCloses).toBe(SUSPICIOUS_QUICK_CLOSES);
    expect(noteDown(noteUp(state, 9000), UNREACHABLE, 9010).state.quickCloses).toBe(0);
    expect(noteDown(state, KICKED, 9010).state.quickCloses).toBe(0);
  });
});

const TAKEN_OVER = { problem: 'taken_over', protocol: 5 } as const;

/**
 * Two devices with one identity: whoever connects ends the other's connection. Returns how each connection of each ended,
 * as they take it, and the waits.
 */
function takeTurns(ending: ConnectionEnding, hours: number, seed: number) {
  const devices = [0, 1].map((index) => ({
    state: beginReconnect(seed * 31 + index),
    dueAt: index * 1_000_000,
    endings: [] as { problem: string; waitMs: number; at: number }[],
  }));
  let holder: (typeof devices)[number] | null = null;
  for (let now = 0; now < hours * 3_600_000; ) {
    const [next] = devices.filter((one) => one !== holder).sort((a, b) => a.dueAt - b.dueAt);
    if (next === undefined) break;
    now = Math.max(now, next.dueAt);
    if (holder !== null) {
      const { state, waitMs, problem } = noteDown(holder.state, ending, now);
      holder.state = state;
      holder.dueAt = now + waitMs;
      holder.endings.push({ problem, waitMs, at: now });
    }
    next.state = noteUp(next.state, now);
    holder = next;
  }
  return devices.map(({ endings }) => endings);
}

describe('two devices with one identity', () => {
  it.each([
    ['the broker says so', TAKEN_OVER, 1],
    ['it closes without a reason', KICKED, SUSPICIOUS_QUICK_CLOSES],
  ] as const)('both notice and back off for minutes when %s', (_, ending, within) => {
    for (let seed = 0; seed < 100; seed++) {
      for (const endings of takeTurns(ending, 3, seed)) {
        const first = endings.findIndex(({ problem }) => problem === 'taken_over');
        expect(first).toBeGreaterThanOrEqual(0);
        expect(first).toBeLessThanOrEqual(within);
        const known = endings.slice(first);
        expect(known.length).toBeGreaterThan(5);
        for (const { problem, waitMs } of known) {
          expect(problem).toBe('taken_over');
          expect(waitMs).toBeGreaterThanOrEqual(60_000);
          expect(waitMs).toBeLessThanOrEqual(TAKEN_OVER_BACKOFF.capMs);
        }
      }
    }
  });

  it('wait differently', () => {
    const waits = Array.from(
      { length: 200 },
      (_, seed) => noteDown(beginReconnect(seed), TAKEN_OVER, 0).waitMs,
    );
    expect(Math.min(...waits)).toBeLessThan(70_000);
    expect(Math.max(...waits)).toBeGreaterThan(290_000);
  });

  it('are forgotten after a connection of ten minutes, and not before', () => {
    const disputed = noteDown(noteUp(beginReconnect(1), 0), TAKEN_OVER, 10).state;
    expect(disputed.isDisputed).toBe(true);
    const again = noteDown(noteUp(disputed, 0), KICKED, UNDISPUTED_AFTER_MS - 1);
    expect(again.problem).toBe('taken_over');
    // A pulled cable, or tries without an answer, are no sign of the other device and no sign of its end.
    const pulled = noteDown(noteUp(disputed, 0), UNREACHABLE, 5000);
    expect(pulled).toMatchObject({ problem: 'unreachable', state: { isDisputed: true } });
    expect(noteDown(pulled.state, KICKED, 6000)).toMatchObject({ problem: 'unreachable' });
    const over = noteDown(noteUp(disputed, 0), KICKED, UNDISPUTED_AFTER_MS);
    expect(over).toMatchObject({ problem: 'unreachable', state: { isDisputed: false, quickCloses: 0 } });
    expect(over.waitMs).toBeLessThan(1000);
  });

  it('are not suspected when a broker ends each connection after some minutes', () => {
    let state = beginReconnect(1);
    for (let i = 0; i < 20; i++) {
      const down = noteDown(noteUp(state, i * 400_000), KICKED, i * 400_000 + 300_000);
      expect(down.problem).toBe('unreachable');
      state = down.state;
    }
  });

  it('are suspected with MQTT 5 only when the session is gone too, or the other device was seen', () => {
    const silent: ConnectionEnding = { ...KICKED, protocol: 5 };
    const close = (state: ReconnectState, isSessionLost = false) =>
      noteDown(noteUp(state, 0, isSessionLost), silent, 10);
    let cut = close(beginReconnect(1));
    for (let i = 0; i < 10; i++) cut = close(cut.state);
    expect(cut.problem).toBe('unreachable');
    expect(close(cut.state, true).problem).toBe('taken_over');
    expect(close(noteOther(beginReconnect(1))).problem).toBe('taken_over');
    // A connection of ten minutes outweighs earlier signs.
    const lasted = noteDown(noteUp(beginReconnect(1), 0, true), silent, UNDISPUTED_AFTER_MS).state;
    expect(lasted.hasLostSession).toBe(false);
  });

  it('are noticed by a third close that comes minutes after two quick ones', () => {
    const once = noteDown(noteUp(beginReconnect(1), 0), KICKED, 10).state;
    const twice = noteDown(noteUp(once, 0), KICKED, 10).state;
    expect(noteDown(noteUp(twice, 0), KICKED, 280_000).problem).toBe('taken_over');
    // An end before the subscriptions are in place counts neither way.
    const early = noteDown(twice, { ...KICKED, early: true }, 20);
    expect(early).toMatchObject({ problem: 'unreachable', state: { quickCloses: 2 } });
  });
});

describe('a connection that is needed at once', () => {
  const LONG_OUTAGE_MS = 600_000;
  const seeds = Array.from({ length: 300 }, (_, index) => index * 7919);
  /** Ten minutes into an outage. */
  const tired = (seed: number): ReconnectState =>
    noteDown(noteDown(beginReconnect(seed), UNREACHABLE, 0).state, UNREACHABLE, LONG_OUTAGE_MS).state;

  it('is back within 15 s after the broker: the try and the wait after it are short, and still spread', () => {
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
      // A second report does not draw a new wait.
      expect(noteUrgency(state, true, dueAt, now).dueAt).toBe(dueAt);
      return (dueAt ?? now) - now;
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(URGENT.waitMs);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(5000);
    // A try that comes sooner anyway is not moved.
    expect(noteUrgency(tired(1), true, now + 1, now).dueAt).toBe(now + 1);
  });

  it('waits as long as before when the need is over', () => {
    const waits = seeds.map((seed) => {
      const urgent = noteUrgency(tired(seed), true, null, LONG_OUTAGE_MS).state;
      const { state } = noteUrgency(urgent, false, null, LONG_OUTAGE_MS);
      expect(tryMs(state)).toBeGreaterThan(URGENT.tryMs);
      return noteDown(state, UNREACHABLE, LONG_OUTAGE_MS).waitMs;
    });
    expect(Math.max(...waits)).toBeGreaterThan(100_000);
  });

  it.each(['refused', 'taken_over'] as const)('waits as before when a person must help (%s)', (problem) => {
    const { state, waitMs } = noteDown(
      noteUrgency(beginReconnect(1), true, null, 0).state,
      { problem, protocol: 5 },
      0,
    );
    expect(waitMs).toBeGreaterThanOrEqual(SLOW_BACKOFF.floorMs);
    const calm = noteUrgency(state, false, waitMs, 0).state;
    expect(noteUrgency(calm, true, waitMs, 0).dueAt).toBe(waitMs);
  });
});
