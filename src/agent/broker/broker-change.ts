/** Goes from one broker to the next that the configuration names, and back while that one does not take the device. */
import type { Brokers } from '../../ports/brokers.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Config } from '../../protocol/config.ts';
import type { EventDetail, EventKind } from '../../protocol/mqtt/event.ts';

/** This long nothing is wrong: a broker may be about to start. */
const HOPE_MS = 60_000;
const TRY_EACH_MS = 10_000;
/** Afterwards: while the old one serves the device, and (sooner) while neither does. */
const SERVED_EACH_MS = 600_000;
const ALONE_EACH_MS = 60_000;
/** A disk that is full or read-only. */
const KEEP_AGAIN_MS = 60_000;

export interface BrokerChangeDeps {
  readonly brokers: Brokers;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1: a fleet does not try all at once. */
  random(): number;
  bus(): Bus | null;
  /** What is said to a broker that is left. */
  offlineStatus(): { topic: string; payload: string; retain: boolean };
  tell<K extends EventKind>(kind: K, detail: EventDetail<K>): void;
  /** @param host of the configured broker that does not take the device; null: none */
  away(host: string | null): void;
  /** Which broker was the last cannot be kept over a restart, and why; null: it is kept. */
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
 * `settled`: there is one broker only. `hoping`: the configured one is tried, and nothing is told yet. `returned`: it has not
 * taken the device in time; the one before it serves.
 */
type Phase = 'settled' | 'hoping' | 'returned';

export function createBrokerChange(deps: BrokerChangeDeps): BrokerChange {
  const { brokers, clock, log } = deps;
  let phase: Phase = 'settled';
  let since = clock.now();
  /** Where the connection is, or is going. */
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
      log.info(change, 'the new broker has taken the device');
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
      // Once, however often it is tried again.
      if (reason !== null && isKept)
        log.warn({ reason }, 'which broker was the last is not kept over a restart');
      isKept = reason === null;
      if (isKept) return;
      // Meanwhile another one may be on trial: then its own settling keeps it.
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
      'the new broker does not take the device; the one before is used, and the new one tried again',
    );
    deps.tell('broker_returned', { from: brokers.configured, to: previous, message: why });
    deps.away(hostOf(brokers.configured));
  };

  /** Beside the connection that there is. */
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

  /** Since the start the configured one has not come up: back to the one before. */
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
      // It may be on its way to a broker that is named no more.
      if (!isUp) deps.bus()?.reconnect();
      if (from === null) return;
      log.info({ from, to: brokers.configured }, 'the configuration names another broker; it is tried');
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
