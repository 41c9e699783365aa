import type { Clock } from '../../ports/clock.ts';

/** A fleet's command waits for up to an hour: this many, and this much, at most. */
const MOST_WAITING = 100;
const MOST_WAITING_BYTES = 1_048_576;

/** Commands to the whole fleet that wait for this device's moment. */
export interface FanOut {
  hasRoom(bytes: number): boolean;
  /** @param bytes what the command takes in memory */
  wait(ms: number, bytes: number, act: () => void): void;
  /** Forgets all that wait. */
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
