import type { Clock } from '../src/ports/clock.ts';
import { asWall } from '../src/protocol/common/time.ts';

/** Number of timers at one instant that shows that code re-arms itself without letting time pass. */
const MOST_TIMERS_AT_ONE_INSTANT = 100_000;

/** A clock that stands still until a test moves it. */
export interface VirtualClock extends Clock {
  /**
   * Advances the time and fires all due timers, in order of time and then of arming. `now()` is the timer's own time. Timers
   * armed by callbacks fire, too, when they are due.
   */
  advance(ms: number): void;
  /** As `advance`, but lets promises and finished I/O run between timers and at the end. */
  elapse(ms: number): Promise<void>;
  /** Jumps without firing on the way, as a blocked event loop does: what fell due fires late, at the new time. */
  stall(ms: number): void;
  /** Sets the wall clock (null: not set); it runs along with `now()` from here on. */
  setWall(wall: number | null): void;
  /** Number of armed timers: 0 after a clean close. */
  readonly armed: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * Makes a virtual clock.
 * @param start first monotonic time (ms); not 0, to detect code that takes 0 for "never"
 * @param wall wall-clock milliseconds, null while not set
 */
export function createVirtualClock(
  start = 1000,
  wall: number | null = Date.UTC(2026, 0, 15, 9),
): VirtualClock {
  let now = start;
  let wallOffset = wall === null ? null : wall - start;
  let order = 0;
  const timers = new Set<Timer>();

  const takeDue = (limit: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at > limit) continue;
      if (
        first === undefined ||
        timer.at < first.at ||
        (timer.at === first.at && timer.order < first.order)
      ) {
        first = timer;
      }
    }
    if (first !== undefined) timers.delete(first);
    return first;
  };

  let firedAtThisInstant = 0;
  const fire = (timer: Timer): void => {
    firedAtThisInstant = timer.at > now ? 0 : firedAtThisInstant + 1;
    if (firedAtThisInstant > MOST_TIMERS_AT_ONE_INSTANT)
      throw new Error(`timers never stop firing at ${now} ms`);
    now = Math.max(now, timer.at);
    timer.callback();
  };
  const target = (ms: number): number => {
    if (!(ms >= 0)) throw new RangeError(`time only moves forward, not by ${ms} ms`);
    return now + ms;
  };

  return {
    now: () => now,
    wall: () => (wallOffset === null ? null : asWall(now + wallOffset)),
    at(at, callback) {
      const timer: Timer = { at, order: order++, callback };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance(ms) {
      const end = target(ms);
      for (let timer = takeDue(end); timer !== undefined; timer = takeDue(end)) fire(timer);
      now = end;
    },
    async elapse(ms) {
      const end = target(ms);
      await settle();
      for (let timer = takeDue(end); timer !== undefined; timer = takeDue(end)) {
        fire(timer);
        await settle();
      }
      now = end;
      await settle();
    },
    stall(ms) {
      now = target(ms);
    },
    setWall(next) {
      wallOffset = next === null ? null : next - now;
    },
    get armed() {
      return timers.size;
    },
  };
}

/** Runs ready promise callbacks, then one turn of the event loop. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
