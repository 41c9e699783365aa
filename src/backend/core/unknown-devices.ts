import { fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import { isKnown, type Rank } from './job-queue.ts';

/** Answers to devices that never had a session: whoever invents names is not worth more. */
const ANSWERS: Rate = { burst: 50, perMinute: 600 };

/** Counts one answer to such a device; true when there have been this many that silence is the better one. */
export function countUnknownDevices(): (rank: Rank, now: number) => boolean {
  let bucket = fullBucket(ANSWERS, 0);
  return (rank, now) => {
    if (isKnown(rank)) return false;
    const spent = spend(bucket, ANSWERS, now);
    bucket = spent.bucket;
    return spent.waitMs > 0;
  };
}
