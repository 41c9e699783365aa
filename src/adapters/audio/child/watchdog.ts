import type { Clock } from '../../../ports/clock.ts';

/** Notices when something expected does not arrive. */
export interface Watchdog {
  /** The expected event must arrive within this time from now; call again at each arrival. */
  expect(limitMs: number): void;
  /** Nothing is expected for now. */
  rest(): void;
}

/** Slack of the timer (milliseconds). */
const SLACK_MS = 500;

/**
 * The expected event arrives several times a second, for months. So the timer is not reset at each event: when it goes off, it is
 * set for the time that is left.
 * @param mercyMs extra wait before it calls `bark`: after a blocked event loop, timers run before the waiting data is read
 */
export function createWatchdog(clock: Clock, mercyMs: number, bark: () => void): Watchdog {
  let deadline = Number.POSITIVE_INFINITY;
  let armedFor = Number.POSITIVE_INFINITY;
  let cancel = (): void => {};
  const arm = (at: number): void => {
    cancel();
    armedFor = at;
    cancel = clock.at(at, look, SLACK_MS);
  };
  const rest = (): void => {
    cancel();
    armedFor = deadline = Number.POSITIVE_INFINITY;
  };
  const look = (): void => {
    if (clock.now() < deadline) return arm(deadline);
    // If the event arrives in the meantime, `expect` sets the timer again, and so cancels this wait.
    armedFor = Number.POSITIVE_INFINITY;
    cancel = clock.at(clock.now() + mercyMs, () => {
      rest();
      bark();
    });
  };
  return {
    expect(limitMs) {
      deadline = clock.now() + limitMs;
      if (deadline < armedFor) arm(deadline);
    },
    rest,
  };
}
