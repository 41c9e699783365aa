import { isBelievable, type ServerTime } from '../../core/time-sources.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

const LOOK_EVERY_MS = 1000;
/** First interval of requests to servers (ms); it doubles each time. */
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 60_000;
/** Time limit for setting the clock (ms). */
const SET_WITHIN_MS = 10_000;
/** A smaller clock error (ms) does not matter for certificates. */
const NOTICEABLE_MS = 60_000;

export interface ClockUpkeepDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** HTTPS addresses whose answers show the time. */
  readonly sources: readonly string[];
  ask(source: string): Promise<ServerTime | null>;
  /** Sets the machine's clock; null if no service does that. */
  readonly request: ((wallMs: number) => Promise<void>) | null;
  /** The clock was wrong and has been set. */
  set(): void;
}

export interface ClockUpkeep {
  /** A certificate seems not to be valid yet: the clock may be behind. */
  doubt(): void;
  end(): void;
}

/**
 * Boards without a battery start in 1970, or at the build date: no certificate is valid yet. Waits until the clock is
 * set, and meanwhile asks HTTPS servers for the time, because time servers may be out of reach.
 */
export function keepClock(deps: ClockUpkeepDeps): ClockUpkeep {
  const { clock, log, sources, request } = deps;
  /** Offset of the wall clock from the monotonic clock; null: not set. */
  const offset = (): number | null => {
    const wall = clock.wall();
    return wall === null ? null : wall - clock.now();
  };
  let doubted: { readonly offset: number | null } | null = null;
  let isEnded = false;
  let hasComplained = false;
  let pauseMs = FIRST_PAUSE_MS;
  let askAt = 0;
  let isAsking = false;
  let cancel = (): void => {};

  const isSet = (since: number | null): boolean => {
    const now = offset();
    return now !== null && (since === null || now - since > NOTICEABLE_MS);
  };
  const rest = (): void => {
    doubted = null;
    cancel();
  };
  const complain = (): void => {
    if (hasComplained) return;
    hasComplained = true;
    log.error(
      {},
      'the clock is wrong and no service sets it: let the machine reach a time server, or enable dragoman-clock.path (see docs/operate.md)',
    );
  };
  const learn = async (): Promise<void> => {
    for (const source of sources) {
      const time = await deps.ask(source);
      if (isEnded || doubted === null) return;
      if (time === null || !isBelievable(time)) continue;
      const wall = clock.wall();
      // The clock is right, so the certificate is wrong.
      if (wall !== null && time.date - wall < NOTICEABLE_MS) return rest();
      log.info({ source, time: new Date(time.date).toISOString() }, 'received the time from a server');
      if (request === null) return complain();
      await request(time.date);
      clock.at(clock.now() + SET_WITHIN_MS, () => {
        if (doubted !== null && !isEnded) complain();
      });
      return;
    }
  };
  const ask = (): void => {
    isAsking = true;
    const done = (): void => {
      isAsking = false;
      askAt = clock.now() + pauseMs;
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    };
    learn().then(done, (error: unknown) => {
      log.warn({ err: error }, 'the request to set the clock failed');
      done();
    });
  };
  const look = (): void => {
    if (doubted === null || isEnded) return;
    if (isSet(doubted.offset)) {
      log.info({}, 'the clock is set');
      rest();
      return deps.set();
    }
    cancel = clock.at(clock.now() + LOOK_EVERY_MS, look, LOOK_EVERY_MS);
    if (!isAsking && clock.now() >= askAt) ask();
  };
  const begin = (): void => {
    doubted = { offset: offset() };
    pauseMs = FIRST_PAUSE_MS;
    look();
  };
  if (clock.wall() === null) {
    log.warn({}, 'the clock is not set: messages carry no time, and encrypted connections wait until it is');
    begin();
  }
  return {
    doubt() {
      if (doubted === null && !isEnded && clock.now() >= askAt) begin();
    },
    end() {
      isEnded = true;
      cancel();
    },
  };
}
