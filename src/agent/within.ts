import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

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

/** How long what is closed at the end may take: a little more than each allows itself. */
const CLOSING_LIMIT_MS = { audio: 1700, bus: 2200 } as const;

/** Nothing that closes is waited for any longer than the process has. */
export async function insist(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  what: keyof typeof CLOSING_LIMIT_MS,
  closing: Promise<unknown>,
): Promise<void> {
  if (!(await within(clock, CLOSING_LIMIT_MS[what], closing))) log.warn({ what }, 'did not close in time');
}
