import { type Bucket, fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import type { Clock } from '../../ports/clock.ts';

/** Highest rate of commands, and of refusals beyond it: more than any operator needs. */
const RATE: Rate = { burst: 100, perMinute: 600 };
/** Dropped commands are counted for this long (ms), then reported as one number. */
const TELL_EVERY_MS = 60_000;

/** Limits the CPU time of a flood of commands, so that audio is not disturbed. */
export interface CommandRate {
  /** `refuse`: answer with `busy`. `drop`: do not answer, because there are too many. */
  next(): 'take' | 'refuse' | 'drop';
  /** Reports the commands dropped so far. */
  close(): void;
}

/** @param dropped called with the number of commands that got no answer */
export function createCommandRate(clock: Clock, dropped: (commands: number) => void): CommandRate {
  const spender = (): (() => boolean) => {
    let bucket: Bucket = fullBucket(RATE, clock.now());
    return () => {
      const spent = spend(bucket, RATE, clock.now());
      bucket = spent.bucket;
      return spent.waitMs === 0;
    };
  };
  const [mayTake, mayRefuse] = [spender(), spender()];
  let count = 0;
  let cancel = (): void => {};
  const tell = (): void => {
    cancel();
    if (count > 0) dropped(count);
    count = 0;
  };
  return {
    next() {
      if (mayTake()) return 'take';
      if (mayRefuse()) return 'refuse';
      if (count === 0) cancel = clock.at(clock.now() + TELL_EVERY_MS, tell);
      count += 1;
      return 'drop';
    },
    close: tell,
  };
}
