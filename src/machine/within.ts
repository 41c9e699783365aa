import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** Waits for `work` at most `limitMs`. @returns whether it finished in time; its rejection is passed on */
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

/** Time limits of closing at shutdown (ms): slightly more than each part's own limit. */
const CLOSING_LIMIT_MS = { audio: 1700, bus: 2200 } as const;

/** Waits for a part to close, within the time of the whole shutdown. */
export async function insist(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  what: keyof typeof CLOSING_LIMIT_MS,
  closing: Promise<unknown>,
): Promise<void> {
  if (!(await within(clock, CLOSING_LIMIT_MS[what], closing)))
    log.warn({ what }, 'a part of the agent did not close in time');
}
