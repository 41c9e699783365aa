/** Moves to another broker that the configuration names, and back while that one does not accept the device. */
import type { Brokers } from '../../ports/brokers.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Config } from '../../protocol/config.ts';
import type { EventDetail, EventKind } from '../../protocol/mqtt/event.ts';

/** Time before a failing new broker is reported (ms): it may be about to start. */
const HOPE_MS = 60_000;
const TRY_EACH_MS = 10_000;
/** Later retries (ms): while the old broker serves the device, and sooner while neither does. */
const SERVED_EACH_MS = 600_000;
const ALONE_EACH_MS = 60_000;
/** Retry of a write to a full or read-only disk (ms). */
const KEEP_AGAIN_MS = 60_000;

export interface BrokerChangeDeps {
  readonly brokers: Brokers;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1: spreads the retries of a fleet. */
  random(): number;
  bus(): Bus | null;
  /** The last status for a broker that the device leaves. */
  offlineStatus(): { topic: string; payload: string; retain: boolean };
  tell<K extends EventKind>(kind: K, detail: EventDetail<K>): void;
  /** @param host of the configured broker that does not accept the device; null: none */
  away(host: string | null): void;
  /** Called with a reason when the last used broker cannot be saved; null: it is saved. */
  kept(problem: string | null): void;
}

export interface BrokerChange {
  begin(): void;
  connected(): void;
  failed(message: string): void;
  /** The configuration was read again. */
  changed(mqtt: Config['mqtt']): void;
  close(): void;
}

/**
 * `settled`: only one broker counts. `hoping`: the configured broker is tried, and nothing is reported yet.
 * `returned`: it has not accepted the device in time, and the previous broker serves.
 */
type Phase = 'settled' | 'hoping' | 'returned';

export function createBrokerChange(deps: BrokerChangeDeps): BrokerChange {
  const { brokers, clock, log } = deps;
  let phase: Phase = 'settled';
  let since = clock.now();
  /** The target of the present connection or try. */
  let isOnConfigured = true;
  let isUp = false;
  let from: string | null = null;
  let why = 'no answer';
  let cancel = (): void => {};
  let cancelKeep = (): void => {};
  let isKept = true;

  const later = (ms: number, act: () => void): void => {
    cancel();
    cancel = clock.at(clock.now() + ms, act);
  };

  const settle = (): void => {
    const before = from;
    cancel();
    if (phase !== 'settled' && before !== null) {
      const change = { from: before, to: brokers.configured };
      log.info(change, 'the new broker accepted the device');
      deps.tell('broker_changed', change);
    }
    phase = 'settled';
    from = null;
    isOnConfigured = true;
    deps.away(null);
    keep();
  };

  const keep = (): void => {
    cancelKeep();
    void brokers.settle().then((reason) => {
      deps.kept(reason);
      // Logged once, however often the write is retried.
      if (reason !== null && isKept) log.warn({ reason }, 'the last used broker will not survive a restart');
      isKept = reason === null;
      if (isKept) return;
      // If another broker is on trial by then, its own success saves it.
      cancelKeep = clock.at(clock.now() + KEEP_AGAIN_MS, () => {
        if (phase === 'settled') keep();
      });
    });
  };

  const stayWith = (previous: string): void => {
    phase = 'returned';
    const fields = { from: brokers.configured, to: previous, reason: why };
    log.warn(
      fields,
      'the new broker does not accept the device; the previous one is used, and the new one is retried',
    );
    deps.tell('broker_returned', { from: brokers.configured, to: previous, message: why });
    deps.away(hostOf(brokers.configured));
  };

  /** Tries the configured broker while the present connection stays up. */
  const tryConfigured = (): void => {
    const bus = deps.bus();
    if (bus?.attempt === undefined) return later(TRY_EACH_MS, tryConfigured);
    later(ALONE_EACH_MS, tryConfigured);
    bus.attempt(deps.offlineStatus(), (problem) => {
      if (problem === null) return settle();
      why = problem;
      const previous = brokers.previous;
      if (phase === 'hoping' && clock.now() - since >= HOPE_MS && previous !== null) stayWith(previous);
      later(waitMs(), tryConfigured);
    });
  };

  const waitMs = (): number => {
    if (phase === 'hoping') return TRY_EACH_MS;
    return (isUp ? SERVED_EACH_MS : ALONE_EACH_MS) * (0.5 + deps.random() / 2);
  };

  /** The configured broker has not come up since the start: return to the previous one. */
  const goBack = (): void => {
    const previous = brokers.previous;
    if (previous === null || phase !== 'hoping' || isUp) return;
    isOnConfigured = false;
    brokers.use('previous');
    deps.bus()?.reconnect();
    stayWith(previous);
    later(waitMs(), tryConfigured);
  };

  return {
    begin() {
      from = brokers.previous;
      if (from === null) return;
      phase = 'hoping';
      since = clock.now();
      later(HOPE_MS, goBack);
    },
    connected() {
      isUp = true;
      if (isOnConfigured) settle();
    },
    failed(message) {
      isUp = false;
      if (isOnConfigured) why = message;
    },
    changed(mqtt) {
      if (!brokers.change(mqtt)) {
        if (phase !== 'settled' && !isOnConfigured) tryConfigured();
        return;
      }
      from = brokers.previous;
      cancel();
      deps.away(null);
      isOnConfigured = from === null;
      brokers.use(isOnConfigured ? 'configured' : 'previous');
      phase = isOnConfigured ? 'settled' : 'hoping';
      since = clock.now();
      // The connection may be on its way to a broker that the configuration no longer names.
      if (!isUp) deps.bus()?.reconnect();
      if (from === null) return;
      log.info({ from, to: brokers.configured }, 'the configuration names another broker; trying it');
      tryConfigured();
    },
    close() {
      cancel();
      cancelKeep();
    },
  };
}

function hostOf(broker: string): string {
  return broker.replace(/^\w+:\/\//, '');
}
