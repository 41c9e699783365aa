import type { Clock } from '../../src/ports/clock.ts';
import { asWall } from '../../src/protocol/common/time.ts';

interface Entry {
  readonly at: number;
  readonly order: number;
  callback: (() => void) | null;
}

/** Timers at one instant above which code must be re-arming itself in an endless loop. */
const MOST_AT_ONE_INSTANT = 20_000;

/** The world's time: a heap of timers. */
export interface SimClock extends Clock {
  setWall(wall: number | null): void;
  /** Makes promise callbacks run before the next timer. */
  settle(): void;
  /** Runs all timers until `end`. */
  run(end: number): Promise<void>;
}

/** Turns of the microtask queue after an event: no promise chain of the agent is longer. */
const SETTLE_TURNS = 24;

export function createSimClock(start: number): SimClock {
  const heap: Entry[] = [];
  let now = start;
  let order = 0;
  let wallOffset: number | null = null;
  let unsettled = true;
  let atThisInstant = 0;

  const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

  const push = (entry: Entry): void => {
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!before(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  };

  const pop = (): void => {
    const last = heap.pop() as Entry;
    const { length } = heap;
    if (length === 0) return;
    let index = 0;
    while (true) {
      let child = 2 * index + 1;
      if (child >= length) break;
      if (child + 1 < length && before(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      const below = heap[child] as Entry;
      if (!before(below, last)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
  };

  const fire = (entry: Entry): void => {
    if (entry.callback === null) return;
    atThisInstant = entry.at > now ? 0 : atThisInstant + 1;
    if (atThisInstant > MOST_AT_ONE_INSTANT) throw new Error(`timers never stop firing at ${now} ms`);
    now = Math.max(now, entry.at);
    const { callback } = entry;
    entry.callback = null;
    callback();
  };

  return {
    now: () => now,
    wall: () => (wallOffset === null ? null : asWall(now + wallOffset)),
    at(at, callback) {
      const entry: Entry = { at, order: order++, callback };
      push(entry);
      return () => {
        entry.callback = null;
      };
    },
    setWall(wall) {
      wallOffset = wall === null ? null : wall - now;
    },
    settle() {
      unsettled = true;
    },
    async run(end) {
      while (true) {
        if (unsettled) {
          unsettled = false;
          for (let turn = 0; turn < SETTLE_TURNS; turn++) await null;
          continue;
        }
        const first = heap[0];
        if (first === undefined || first.at > end) break;
        pop();
        fire(first);
      }
      now = Math.max(now, end);
    },
  };
}

/** One process's view of the clock: none of its timers fires after it was killed. */
export interface ProcessClock extends Clock {
  readonly alive: boolean;
  kill(): void;
}

/** @param lateness share of its slack by which each timer fires late */
export function createProcessClock(clock: Clock, lateness = 0): ProcessClock {
  let alive = true;
  return {
    get alive() {
      return alive;
    },
    kill() {
      alive = false;
    },
    now: () => clock.now(),
    wall: () => clock.wall(),
    at: (at, callback, slackMs = 0) =>
      clock.at(at + lateness * slackMs, () => {
        if (alive) callback();
      }),
  };
}
