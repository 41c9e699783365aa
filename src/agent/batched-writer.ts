import type { Clock } from '../ports/clock.ts';
import type { StateFile } from '../ports/state-file.ts';

/** A flood of changes must not wear the card out: one write a second at most, whatever comes. */
const WRITE_EVERY_MS = 1000;
/** A disk that is full or read-only is tried again so often; nobody waits for it meanwhile. */
const TRY_AGAIN_MS = 60_000;
/** A disk that takes longer counts as failing. */
const WRITE_WITHIN_MS = 2000;

export interface BatchedWriter {
  /** What is to be written has changed: it is written soon. */
  changed(): void;
  /** As `changed`; calls back once it is safe, or at once while the disk fails: that must not stop anybody. */
  changedThen(callback: () => void): void;
  /** Writes what has changed without further delay; resolves when that is done, or has taken too long. */
  flush(): Promise<void>;
}

/**
 * Writes the newest `snapshot` to a file, several changes at a time.
 * @param told why the file cannot be written, once; null when it can be again
 */
export function createBatchedWriter(
  file: StateFile,
  clock: Clock,
  snapshot: () => string,
  told: (problem: string | null) => void,
): BatchedWriter {
  let startedAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;
  let isChanged = false;
  let isFailing = false;
  let waiting: (() => void)[] = [];
  let cancelTimer: (() => void) | null = null;

  const release = (callbacks: readonly (() => void)[]): void => {
    for (const callback of callbacks) callback();
  };
  const note = (problem: string | null): void => {
    const failed = problem !== null;
    if (failed !== isFailing) told(problem);
    isFailing = failed;
  };

  const write = (): void => {
    cancelTimer?.();
    cancelTimer = null;
    isChanged = false;
    startedAt = clock.now();
    const mine = waiting;
    waiting = [];
    const cancelPatience = clock.at(startedAt + WRITE_WITHIN_MS, () => {
      note('the disk takes too long');
      release(mine.splice(0));
      release(waiting.splice(0));
    });
    writing = file.write(snapshot()).then((result) => {
      writing = null;
      cancelPatience();
      note(result.ok ? null : result.message);
      release(mine);
      if (isFailing) release(waiting.splice(0));
      if (isChanged) changed();
    });
  };

  const changed = (): void => {
    isChanged = true;
    if (writing !== null || cancelTimer !== null) return;
    const at = startedAt + (isFailing ? TRY_AGAIN_MS : WRITE_EVERY_MS);
    if (clock.now() >= at) write();
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
        callback();
        return;
      }
      waiting.push(callback);
      changed();
    },
    async flush() {
      if (!isChanged && writing === null) return;
      const done = async (): Promise<void> => {
        await writing;
        if (!isChanged) return;
        write();
        await writing;
      };
      let cancel = (): void => {};
      const tooLong = new Promise<void>((resolve) => {
        cancel = clock.at(clock.now() + WRITE_WITHIN_MS, resolve);
      });
      await Promise.race([done(), tooLong]);
      cancel();
      cancelTimer?.();
      cancelTimer = null;
    },
  };
}
