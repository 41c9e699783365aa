import type { Clock } from '../../../ports/clock.ts';
import type { MonotonicMs } from '../../../protocol/common/time.ts';
import type { TimerName } from '../state/lane-event.ts';

/** The named timers of one lane. */
export interface Timers {
  /** @param slackMs it may fire this much later */
  arm(timer: TimerName, at: MonotonicMs, slackMs: number): void;
  disarm(timer: TimerName): void;
  disarmAll(): void;
}

export function createTimers(clock: Clock, fire: (timer: TimerName) => void): Timers {
  const armed = new Map<TimerName, () => void>();
  const disarm = (timer: TimerName): void => {
    armed.get(timer)?.();
    armed.delete(timer);
  };
  return {
    arm(timer, at, slackMs) {
      disarm(timer);
      const goOff = (): void => {
        // Fires only if it is still armed: a cancelled timer may already be in the queue.
        if (armed.get(timer) !== cancel) return;
        armed.delete(timer);
        fire(timer);
      };
      const cancel = clock.at(at, goOff, slackMs);
      armed.set(timer, cancel);
    },
    disarm,
    disarmAll() {
      for (const timer of [...armed.keys()]) disarm(timer);
    },
  };
}
