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
