import { describe, expect, it } from 'vitest';
import {
  beginReconnect,
  type ConnectionEnding,
  noteDown,
  noteUp,
  noteUrgency,
  type ReconnectState,
  SLOW_BACKOFF,
  STABLE_AFTER_MS,
  TAKEN_OVER_BACKOFF,
  tryMs,
  UNREACHABLE_BACKOFF,
  URGENT,
  URGENT_SLOW_BACKOFF,
} from '../../../src/core/retry/reconnect.ts';

const UNREACHABLE = { problem: 'unreachable' } as const;
const CLOSED = { problem: 'unreachable', silent: true } as const;

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
    const { waitMs } = noteDown(beginReconnect(1), { problem: 'refused' }, 0);
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
});

const TAKEN_OVER = { problem: 'taken_over' } as const;

/**
 * Two devices with one identity: whoever connects ends the other's connection. Returns the waits of each device.
 * @param isUrgent whether somebody speaks to both all the time
 */
function takeTurns(ending: ConnectionEnding, hours: number, seed: number, isUrgent: boolean) {
  const devices = [0, 1].map((index) => ({
    state: { ...beginReconnect(seed * 31 + index), isDisputed: true, urgent: isUrgent },
    dueAt: index * 1_000_000,
    waits: [] as number[],
  }));
  let holder: (typeof devices)[number] | null = null;
  for (let now = 0; now < hours * 3_600_000; ) {
    const [next] = devices.filter((one) => one !== holder).sort((a, b) => a.dueAt - b.dueAt);
    if (next === undefined) break;
    now = Math.max(now, next.dueAt);
    if (holder !== null) {
      const { state, waitMs } = noteDown(holder.state, ending, now);
      holder.state = state;
      holder.dueAt = now + waitMs;
      holder.waits.push(waitMs);
    }
    next.state = noteUp(next.state, now);
    holder = next;
  }
  return devices.map(({ waits }) => waits);
}

describe('two devices with one identity', () => {
  it.each([
    ['the broker gives the reason', TAKEN_OVER],
    ['it closes without a reason', CLOSED],
  ] as const)('both wait for minutes when %s, and seconds while somebody speaks', (_, ending) => {
    for (let seed = 0; seed < 100; seed++) {
      for (const [isUrgent, policy] of [
        [false, TAKEN_OVER_BACKOFF],
        [true, URGENT_SLOW_BACKOFF],
      ] as const) {
        for (const waits of takeTurns(ending, 3, seed, isUrgent)) {
          expect(waits.length).toBeGreaterThan(5);
          expect(Math.min(...waits)).toBeGreaterThanOrEqual(policy.floorMs);
          expect(Math.max(...waits)).toBeLessThanOrEqual(policy.capMs);
        }
      }
    }
    expect(TAKEN_OVER_BACKOFF.floorMs).toBe(60_000);
    expect(URGENT_SLOW_BACKOFF.capMs).toBeLessThan(15_000);
  });

  it('wait differently', () => {
    const waits = Array.from(
      { length: 200 },
      (_, seed) => noteDown(beginReconnect(seed), TAKEN_OVER, 0).waitMs,
    );
    expect(Math.min(...waits)).toBeLessThan(70_000);
    expect(Math.max(...waits)).toBeGreaterThan(290_000);
  });

  it('do not wait when only the line cuts, or the other device was not proved', () => {
    const soon = (state: ReconnectState, ending: ConnectionEnding) => {
      const down = noteDown(state, ending, 10);
      expect(down.waitMs).toBeLessThanOrEqual(UNREACHABLE_BACKOFF.baseMs);
      return down.state;
    };
    let state = beginReconnect(1);
    for (let i = 0; i < 20; i++) state = soon(noteUp({ ...state, troubleSince: null }, 0), CLOSED);
    const disputed: ReconnectState = { ...beginReconnect(1), isDisputed: true };
    soon(noteUp(disputed, 0), UNREACHABLE);
    soon(disputed, CLOSED);
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

  it.each(['refused', 'taken_over'] as const)(
    'waits 15 s at most also when a person must help (%s)',
    (problem) => {
      const waits = seeds.flatMap((seed) => {
        const urgent = noteUrgency(beginReconnect(seed), true, null, 0).state;
        const calm = noteDown(beginReconnect(seed), { problem }, 0);
        return [
          noteDown(urgent, { problem }, 0).waitMs,
          noteUrgency(calm.state, true, calm.waitMs, 0).dueAt ?? 0,
        ];
      });
      expect(Math.max(...waits)).toBeLessThanOrEqual(15_000);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(URGENT_SLOW_BACKOFF.floorMs);
      // A try that comes sooner anyway is not moved.
      const { state } = noteDown(beginReconnect(1), { problem }, 0);
      expect(noteUrgency(state, true, 500, 0).dueAt).toBe(500);
    },
  );
});
