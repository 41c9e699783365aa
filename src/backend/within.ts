import type { Clock } from '../ports/clock.ts';

/** Waits for work to end, but no longer than `ms`. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel = (): void => {};
  const tooLong = new Promise<void>((resolve) => {
    cancel = clock.at(clock.now() + ms, resolve);
  });
  try {
    await Promise.race([work, tooLong]);
  } finally {
    cancel();
  }
}
