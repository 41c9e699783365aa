/** The queue of jobs, ordered by rank, then by arrival. */
import { fullBucket, type Rate, spend } from '../../core/retry/rate.ts';

/** Lower ranks go first: 0 for a listed device, else the time of its first session; Infinity for an unknown device. */
export type Rank = number;

export interface Ranked {
  readonly rank: Rank;
}

export interface JobQueue<J extends Ranked> {
  readonly size: number;
  /** Shortest wait of a job of this rank (ms). */
  waitMs(rank: Rank): number;
  add(job: J): void;
  /** Whether there is a job to take. `unknownDevices`: jobs of unknown devices count. */
  has(unknownDevices: boolean): boolean;
  /** Removes and returns all jobs that must not wait any longer. */
  drop(isOver: (job: J) => boolean): J[];
  /** The next job. */
  take(unknownDevices: boolean): J | undefined;
  /** Counts one new session. @returns 0, or the time until one is allowed (ms) */
  spendCreate(now: number): number;
}

export function openJobQueue<J extends Ranked>(createsPerSecond: number): JobQueue<J> {
  let waiting: J[] = [];
  const creates: Rate = { burst: Math.max(1, createsPerSecond), perMinute: createsPerSecond * 60 };
  let bucket = fullBucket(creates, 0);
  const placeOf = (rank: Rank): number => {
    const place = waiting.findIndex((job) => job.rank > rank);
    return place === -1 ? waiting.length : place;
  };
  const has = (unknownDevices: boolean): boolean => {
    const [first] = waiting;
    return first !== undefined && (unknownDevices || isKnown(first.rank));
  };
  return {
    get size() {
      return waiting.length;
    },
    waitMs: (rank) => (placeOf(rank) / createsPerSecond) * 1000,
    add: (job) => void waiting.splice(placeOf(job.rank), 0, job),
    has,
    drop(isOver) {
      const over = waiting.filter(isOver);
      if (over.length > 0) waiting = waiting.filter((job) => !over.includes(job));
      return over;
    },
    take: (unknownDevices) => (has(unknownDevices) ? waiting.shift() : undefined),
    spendCreate(now) {
      const spent = spend(bucket, creates, now);
      bucket = spent.bucket;
      return spent.waitMs;
    },
  };
}

export function isKnown(rank: Rank): boolean {
  return rank !== Number.POSITIVE_INFINITY;
}
