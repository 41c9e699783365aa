import { type Bucket, fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import type { Clock } from '../../ports/clock.ts';
import type { StateFile } from '../../ports/state-file.ts';

/**
 * Rate of writes: one a second in the long run, which spares the SD card. The first nine are immediate: three commands,
 * each with its note, its end and its acknowledged answer.
 */
const WRITE_RATE: Rate = { burst: 9, perMinute: 60 };
/** Retry interval of a full or read-only disk (ms); callers do not wait for it. */
const TRY_AGAIN_MS = 60_000;
/** Time limit of a write (ms): a slower disk counts as failing. */
const WRITE_WITHIN_MS = 2000;
/**
 * The limit is counted in steps of this length (ms). A busy program delays the steps and the write's result alike, so its
 * own delays do not count as the disk's.
 */
const PATIENCE_STEP_MS = 100;

type SavedCallback = (isSaved: boolean) => void;

export interface BatchedWriter {
  /** The content has changed: it is written soon. */
  changed(): void;
  /**
   * Like `changed`. Calls back with true once the change is saved; with false after a timeout, or at once while the
   * disk is failing.
   */
  changedThen(callback: SavedCallback): void;
  /** Writes changes without delay; resolves when that is done, or has timed out. */
  flush(): Promise<void>;
}

/**
 * Writes the newest `snapshot` to a file, batching changes.
 * @param onChange called once with a reason when writing fails, and with null when writing works again
 */
export function createBatchedWriter(
  file: StateFile,
  clock: Clock,
  snapshot: () => string,
  onChange: (problem: string | null) => void,
): BatchedWriter {
  let startedAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;
  let isChanged = false;
  let isFailing = false;
  let bucket: Bucket = fullBucket(WRITE_RATE, clock.now());
  /** Callbacks for the write in progress, and for the next one. */
  let written: SavedCallback[] = [];
  let waiting: SavedCallback[] = [];
  let cancelTimer: (() => void) | null = null;

  const callBack = (callbacks: readonly SavedCallback[], isSaved: boolean): void => {
    for (const callback of callbacks) callback(isSaved);
  };
  const failAll = (): void => {
    callBack(written.splice(0), false);
    callBack(waiting.splice(0), false);
  };
  const note = (problem: string | null): void => {
    const failed = problem !== null;
    if (failed !== isFailing) onChange(problem);
    isFailing = failed;
  };

  const write = (): void => {
    cancelTimer?.();
    cancelTimer = null;
    isChanged = false;
    startedAt = clock.now();
    bucket = spend(bucket, WRITE_RATE, startedAt).bucket;
    written = waiting;
    waiting = [];
    const cancelPatience = afterSteps(clock, () => {
      note(`the file ${file.name} cannot be written: the disk takes too long`);
      failAll();
    });
    writing = file.write(snapshot()).then((result) => {
      cancelPatience();
      note(result.ok ? null : result.message);
      try {
        // Changes in these callbacks are written together: no write begins before the last callback.
        if (result.ok) callBack(written.splice(0), true);
        else failAll();
      } finally {
        writing = null;
      }
      // A failed write counts as a change: otherwise it would not be retried until the next change, perhaps for a year.
      if (isChanged || !result.ok) changed();
    });
  };

  const changed = (): void => {
    isChanged = true;
    if (writing !== null || cancelTimer !== null) return;
    const now = clock.now();
    const at = isFailing ? startedAt + TRY_AGAIN_MS : now + spend(bucket, WRITE_RATE, now).waitMs;
    if (now >= at) write();
    else {
      cancelTimer = clock.at(at, () => {
        cancelTimer = null;
        write();
      });
    }
  };

  return {
    changed,
    changedThen(callback) {
      if (isFailing) {
        changed();
        callback(false);
        return;
      }
      waiting.push(callback);
      changed();
    },
    async flush() {
      if (!isChanged && writing === null) return;
      const done = async (): Promise<void> => {
        while (isChanged || writing !== null) {
          const isLast = writing === null;
          if (isLast) write();
          await writing;
          if (isLast && isFailing) return;
        }
      };
      let cancel = (): void => {};
      const tooLong = new Promise<void>((resolve) => {
        cancel = afterSteps(clock, () => {
          failAll();
          resolve();
        });
      });
      await Promise.race([done(), tooLong]);
      cancel();
      cancelTimer?.();
      cancelTimer = null;
    },
  };
}

/** Calls back after the time limit of a write, unless cancelled. */
function afterSteps(clock: Clock, callback: () => void): () => void {
  let left = WRITE_WITHIN_MS / PATIENCE_STEP_MS;
  let cancel = (): void => {};
  const step = (): void => {
    if (left === 0) return callback();
    left -= 1;
    cancel = clock.at(clock.now() + PATIENCE_STEP_MS, step);
  };
  step();
  return () => cancel();
}
