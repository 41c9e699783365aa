/** Longest timeout (milliseconds): setTimeout counts in 32 bits, so longer waits are split. */
export const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

interface Waiting {
  readonly at: number;
  readonly latest: number;
  readonly callback: () => void;
}

/**
 * Timers with slack share their wake-ups. The alarm rings when one of them cannot wait longer, and then calls all that are due. A
 * wait that is renewed repeatedly does not set a timer each time: even a cancelled Node timer wakes the process up.
 * @param now monotonic milliseconds
 * @returns a function that calls back between `at` and `slackMs` later, and returns the function that cancels this
 */
export function createSharedAlarm(
  now: () => number,
): (at: number, slackMs: number, callback: () => void) => () => void {
  const waiting = new Set<Waiting>();
  let alarm: NodeJS.Timeout | null = null;
  let ringsAt = Number.POSITIVE_INFINITY;

  const set = (at: number): void => {
    if (alarm !== null) clearTimeout(alarm);
    ringsAt = at;
    alarm = setTimeout(ring, Math.min(LONGEST_TIMEOUT_MS, Math.ceil(Math.max(0, at - now()))));
  };
  const ring = (): void => {
    alarm = null;
    ringsAt = Number.POSITIVE_INFINITY;
    const due = [...waiting].filter(({ at }) => at <= now()).sort((a, b) => a.at - b.at);
    // A callback may cancel another one.
    for (const one of due) if (waiting.delete(one)) one.callback();
    let next = Number.POSITIVE_INFINITY;
    for (const { latest } of waiting) next = Math.min(next, latest);
    if (next < ringsAt) set(next);
  };

  return (at, slackMs, callback) => {
    const one = { at, latest: at + slackMs, callback };
    waiting.add(one);
    if (one.latest < ringsAt) set(one.latest);
    else alarm?.ref();
    return () => {
      // An alarm without callbacks must not keep an ending program alive.
      if (waiting.delete(one) && waiting.size === 0) alarm?.unref();
    };
  };
}
