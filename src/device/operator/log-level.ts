import type { Clock } from '../../ports/clock.ts';
import type { LOG_LEVELS } from '../../protocol/common/setting-values.ts';

type Level = (typeof LOG_LEVELS)[number];

/** The log level: the configured one, or another one until an operator's time is over or the configured one changes. */
export interface LogLevel {
  /** A level is configured or desired: it replaces an operator's. */
  configure(level: Level): void;
  /** @param until monotonic end; null: until a level is configured */
  change(level: Level, until: number | null): void;
  close(): void;
}

/** @param begin the level until one is configured */
export function createLogLevel(clock: Clock, begin: Level, set: (level: Level) => void): LogLevel {
  let configured = begin;
  let cancel = (): void => {};
  return {
    configure(level) {
      cancel();
      configured = level;
      set(level);
    },
    change(level, until) {
      cancel();
      set(level);
      if (until !== null) cancel = clock.at(until, () => set(configured));
    },
    close: () => cancel(),
  };
}
