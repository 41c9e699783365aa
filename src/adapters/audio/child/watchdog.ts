import type { Clock } from '../../../ports/clock.ts';

/** Notices that something expected does not come. */
export interface Watchdog {
  /** From now on it must come within this long: called again each time that it has come. */
  expect(limitMs: number): void;
  /** Nothing is expected any more. */
  rest(): void;
}

/** It may look this much later. */
const SLACK_MS = 500;

/**
 * What it waits for comes several times a second, for months: only a timer that has gone off is set again, for what is left
 * by then.
 * @param mercyMs how long it waits once more before it barks: after a blocked loop timers come before the data that waits
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
    // What comes meanwhile arms it again, and takes this away.
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
