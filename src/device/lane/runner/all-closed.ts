import type { Clock } from '../../../ports/clock.ts';
import type { LaneRunner, LaneStep } from './lane-runner.ts';

/** Resolves to true when every lane is closed, or to false at the time limit. */
export function whenAllClosed(
  lanes: readonly LaneRunner[],
  clock: Clock,
  limit: number,
  watch: (listener: (step: LaneStep) => void) => () => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (all: boolean): void => {
      unwatch();
      cancel();
      resolve(all);
    };
    const unwatch = watch(() => {
      if (lanes.every(({ phase }) => phase === 'closed')) done(true);
    });
    const cancel = clock.at(limit, () => done(false));
    if (lanes.length === 0) done(true);
  });
}
