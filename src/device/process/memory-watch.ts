import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** `MemoryMax=` of the agent's unit. */
export const MOST_MEMORY_BYTES = 440 * 2 ** 20;
const LOOK_EVERY_MS = 60_000;
const TELL_EVERY_MS = 3_600_000;

/**
 * Warns once an hour while the agent uses more memory than it ever should. Many boards boot without the kernel's
 * memory controller, so that `MemoryMax=` has no effect there.
 * @param rssBytes of this process and its children
 * @param changed called when the memory becomes too large, and when it no longer is
 * @returns a function that ends the watch
 */
export function watchMemory(
  rssBytes: () => number,
  clock: Clock,
  log: Log,
  changed: (isLarge: boolean) => void,
): () => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  let wasLarge = false;
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.at(clock.now() + LOOK_EVERY_MS, look, LOOK_EVERY_MS / 6);
  };
  const look = (): void => {
    const bytes = rssBytes();
    const isLarge = bytes > MOST_MEMORY_BYTES;
    if (isLarge && clock.now() - toldAt >= TELL_EVERY_MS) {
      toldAt = clock.now();
      log.warn(
        { rss_mb: Math.round(bytes / 2 ** 20), limit_mb: MOST_MEMORY_BYTES / 2 ** 20 },
        'the agent needs more memory than it ever should; restart it, and report its diagnosis (command diagnose)',
      );
    }
    if (isLarge !== wasLarge) changed(isLarge);
    wasLarge = isLarge;
    arm();
  };
  arm();
  return () => cancel();
}
