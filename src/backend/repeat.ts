import type { Clock } from '../ports/clock.ts';

/** Calls `work` every `everyMs`, first after that time. @returns a function that ends it, which `work` may call, too */
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
