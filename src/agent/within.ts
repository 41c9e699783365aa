import type { Clock } from '../ports/clock.ts';

/** Waits for `work` no longer than `limitMs`. @returns whether it was done by then; what it rejects with goes on */
export function within(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.at(clock.now() + limitMs, () => resolve(false));
    work.then(
      () => {
        cancel();
        resolve(true);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
