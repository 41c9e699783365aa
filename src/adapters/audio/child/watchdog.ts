import type { Clock } from '../../../ports/clock.ts';

/** Notices when something expected does not arrive. */
export interface Watchdog {
  /** It must arrive within this time from now; call again each time it has arrived. */
  expect(limitMs: number): void;
  /** Nothing is expected for now. */
  rest(): void;
}

/** How much later it may check (milliseconds). */
const SLACK_MS = 500;

/**
 * Its event arrives several times a second, for months. So a timer is set again only when it has gone off, for the time left
 * by then.
 * @param mercyMs extra wait before it barks: after a blocked event loop, timers run before the waiting data is read
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
    // An event in the meantime arms it again, and cancels this.
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
