import { readFileSync } from 'node:fs';

/** How this process has been kept from running since then, milliseconds: a busy machine makes everything later by as much. */
export interface Stalls {
  /** In all. */
  ms(): number;
  /** The longest one. */
  longestMs(): number;
}

const STEP_MS = 20;

export function watchStalls(): Stalls {
  let dueAt = performance.now() + STEP_MS;
  let lost = 0;
  let longest = 0;
  /** What it is kept from just now counts, too. */
  const late = (): number => Math.max(0, performance.now() - dueAt);
  setInterval(() => {
    lost += late();
    longest = Math.max(longest, late());
    dueAt = performance.now() + STEP_MS;
  }, STEP_MS).unref();
  return { ms: () => lost + late(), longestMs: () => Math.max(longest, late()) };
}

/** The longest turn of the event loop since then, milliseconds, without the time in which others had its processor. */
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

/** How long this thread has been ready to run and was not let, as Linux counts it; elsewhere 0. */
function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * Judges sound in real time. What a machine that was measurably too busy has made of it proves nothing: then the test is
 * skipped, and says why. Elsewhere, and where it is right all the same, it counts.
 * @param mostMs a stall this long leaves the sound as it should be
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
    skip(`the machine was too busy: it kept this process waiting for ${longestMs.toFixed(0)} ms`);
  }
}
