import { type Bucket, fullBucket, type Rate, spend } from '../../core/retry/rate.ts';

/** Highest rate of commands, and of refusals beyond it: more than any operator needs. */
const RATE: Rate = { burst: 100, perMinute: 600 };

/** Limits the CPU time of a flood of commands, so that audio is not disturbed. */
export interface CommandRate {
  readonly taken: Bucket;
  readonly refused: Bucket;
}

const FULL = fullBucket(RATE, Number.NEGATIVE_INFINITY);
/** The rate before the first command. */
export const UNUSED_RATE: CommandRate = { taken: FULL, refused: FULL };

/** `refuse`: answer with `busy`. `drop`: do not answer, because there are too many. */
export type Allowed = 'take' | 'refuse' | 'drop';

/** What may be done with one more command. */
export function countCommand(rate: CommandRate, now: number): { rate: CommandRate; allowed: Allowed } {
  const taken = spend(rate.taken, RATE, now);
  if (taken.waitMs === 0) return { rate: { ...rate, taken: taken.bucket }, allowed: 'take' };
  const refused = spend(rate.refused, RATE, now);
  return {
    rate: { taken: taken.bucket, refused: refused.bucket },
    allowed: refused.waitMs === 0 ? 'refuse' : 'drop',
  };
}
