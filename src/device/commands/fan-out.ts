import type { Clock } from '../../ports/clock.ts';

/** Maximum number of waiting fan-out commands; each waits for up to an hour. */
const MOST_WAITING = 100;
/** Maximum total size of the waiting commands (bytes). */
const MOST_WAITING_BYTES = 1_048_576;

/** Fan-out commands that wait for this device's turn. */
export interface FanOut {
  hasRoom(bytes: number): boolean;
  /** @param bytes size of the command in memory */
  wait(ms: number, bytes: number, act: () => void): void;
  /** Drops all waiting commands. */
  close(): void;
}

export function createFanOut(clock: Clock): FanOut {
  const waiting = new Set<() => void>();
  let waitingBytes = 0;
  return {
    hasRoom: (bytes) => waiting.size < MOST_WAITING && waitingBytes + bytes <= MOST_WAITING_BYTES,
    wait(ms, bytes, act) {
      waitingBytes += bytes;
      const cancel = clock.at(clock.now() + ms, () => {
        waiting.delete(cancel);
        waitingBytes -= bytes;
        act();
      });
      waiting.add(cancel);
    },
    close() {
      for (const cancel of waiting) cancel();
      waiting.clear();
      waitingBytes = 0;
    },
  };
}
