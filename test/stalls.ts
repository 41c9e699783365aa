import { readFileSync } from 'node:fs';

/** Stalls of this process since the start of watching (ms): a busy machine delays everything by as much. */
export interface Stalls {
  /** Total length. */
  ms(): number;
  /** Length of the longest one. */
  longestMs(): number;
}

const STEP_MS = 20;

export function watchStalls(): Stalls {
  let dueAt = performance.now() + STEP_MS;
  let lost = 0;
  let longest = 0;
  /** The present stall counts, too. */
  const late = (): number => Math.max(0, performance.now() - dueAt);
  setInterval(() => {
    lost += late();
    longest = Math.max(longest, late());
    dueAt = performance.now() + STEP_MS;
  }, STEP_MS).unref();
  return { ms: () => lost + late(), longestMs: () => Math.max(longest, late()) };
}

/** Watches for the longest turn of the event loop (ms), without the time in which other threads had the processor. */
export function watchTurns(): { longestMs(): number; close(): void } {
  let last = { at: performance.now(), waitedMs: waitedMs() };
  let longest = 0;
  const look = (): number => {
    const now = { at: performance.now(), waitedMs: waitedMs() };
    longest = Math.max(longest, now.at - last.at - (now.waitedMs - last.waitedMs));
    last = now;
    return longest;
  };
  const timer = setInterval(look, STEP_MS);
  return { longestMs: look, close: () => clearInterval(timer) };
}

/** Time for which this thread was ready but did not run, by Linux's count; 0 on other systems. */
function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * Checks sound in real time. If the check fails and the machine was measurably too busy, the test is skipped with the reason,
 * because the failure proves nothing. Otherwise the result counts.
 * @param mostMs longest stall that does not affect the sound
 */
export function judgeSound(
  skip: (note: string) => unknown,
  stalls: Stalls,
  mostMs: number,
  judge: () => void,
): void {
  try {
    judge();
  } catch (error) {
    const longestMs = stalls.longestMs();
    if (longestMs <= mostMs) throw error;
    skip(`the machine was too busy: this process stalled for ${longestMs.toFixed(0)} ms`);
  }
}
