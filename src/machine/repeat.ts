import type { Clock } from '../ports/clock.ts';

/** Calls `work` every `everyMs`, first after `everyMs`. @returns a function that stops it; `work` may call it, too */
export function repeat(clock: Clock, everyMs: number, work: () => void): () => void {
  let isOver = false;
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.at(clock.now() + everyMs, () => {
      work();
      if (!isOver) arm();
    });
  };
  arm();
  return () => {
    isOver = true;
    cancel();
  };
}
