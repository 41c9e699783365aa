import type { Clock } from '../ports/clock.ts';

/** One timer for many sleepers. The timer is set for the earliest of them. */
export interface Alarm {
  add(wake: () => void): Sleeper;
}

export interface Sleeper {
  /** Calls `wake` once at this time, in place of the time set before. Null: never. */
  sleepUntil(at: number | null): void;
  remove(): void;
}

export function createAlarm(clock: Clock): Alarm {
  /** Time of each sleeper; null: it sleeps on. */
  const sleepers = new Map<() => void, number | null>();
  let setFor: number | null = null;
  let cancel = (): void => {};

  const set = (): void => {
    const times = [...sleepers.values()].flatMap((at) => at ?? []);
    const earliest = times.length === 0 ? null : Math.min(...times);
    if (earliest === setFor) return;
    cancel();
    setFor = earliest;
    cancel = earliest === null ? () => {} : clock.at(earliest, ring);
  };

  const ring = (): void => {
    setFor = null;
    const now = clock.now();
    for (const wake of [...sleepers.keys()]) {
      // One that was woken before may have changed or removed this one.
      const at = sleepers.get(wake) ?? null;
      if (at === null || at > now) continue;
      sleepers.set(wake, null);
      wake();
    }
    set();
  };

  return {
    add(wake) {
      sleepers.set(wake, null);
      return {
        sleepUntil(at) {
          sleepers.set(wake, at);
          set();
        },
        remove() {
          sleepers.delete(wake);
          set();
        },
      };
    },
  };
}
