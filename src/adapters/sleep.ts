import type { Clock } from '../ports/clock.ts';

/** Waits this many milliseconds. */
export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.at(clock.now() + ms, resolve));
}
