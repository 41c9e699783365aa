import { performance } from 'node:perf_hooks';
import type { Clock } from '../ports/clock.ts';
import { asWall } from '../protocol/common/time.ts';
import { createSharedAlarm, LONGEST_TIMEOUT_MS } from './shared-alarm.ts';

/** Earliest time of a clock that was set: boards without a clock battery boot in 1970. */
const EARLIEST_BELIEVABLE_WALL_MS = Date.UTC(2024, 0, 1);

/** The machine's own clock and timers. */
export function createSystemClock(): Clock {
  const shareAlarm = createSharedAlarm(() => performance.now());
  return {
    now: () => performance.now(),
    wall: () => {
      const wall = asWall(Date.now());
      return wall < EARLIEST_BELIEVABLE_WALL_MS ? null : wall;
    },
    at: (at, callback, slackMs = 0) => {
      if (slackMs > 0) return shareAlarm(at, slackMs, callback);
      let timer: NodeJS.Timeout;
      const arm = (): void => {
        const wait = Math.max(0, at - performance.now());
        timer =
          wait > LONGEST_TIMEOUT_MS
            ? setTimeout(arm, LONGEST_TIMEOUT_MS)
            : setTimeout(callback, Math.ceil(wait));
      };
      arm();
      return () => clearTimeout(timer);
    },
  };
}

/** The kernel's monotonic clock, which systemd compares with its own. */
export function kernelMicroseconds(): bigint {
  return process.hrtime.bigint() / 1000n;
}
