/** Moves to a newly configured broker once that broker has accepted the device. */
import type { Brokers } from '../../ports/brokers.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Config } from '../../protocol/config.ts';
import type { EventDetail, EventKind } from '../../protocol/mqtt/event.ts';

/** Longest time between tries of the configured broker (ms). */
const TRY_EACH_MS = 60_000;

export interface BrokerChangeDeps {
  readonly brokers: Brokers;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1: spreads the retries of a fleet. */
  random(): number;
  bus(): Bus | null;
  /** The final status to publish on a broker that the device leaves. */
  offlineStatus(): { topic: string; payload: string; retain: boolean };
  tell<K extends EventKind>(kind: K, detail: EventDetail<K>): void;
  /** @param host of the configured broker, while it does not accept the device; null: it does */
  away(host: string | null): void;
}

export interface BrokerChange {
  connected(): void;
  /** The connection ended, or an attempt to connect failed. */
  failed(): void;
  /** The configuration was read again. */
  changed(mqtt: Config['mqtt']): void;
  close(): void;
}

export function createBrokerChange(deps: BrokerChangeDeps): BrokerChange {
  const { brokers, clock, log } = deps;
  let isUp = false;
  let isTold = false;
  let cancel = (): void => {};

  const settle = (): void => {
    cancel();
    const from = brokers.previous;
    brokers.settle();
    deps.away(null);
    if (from === null) return;
    log.info({ from, to: brokers.configured }, 'the new broker accepted the device');
    deps.tell('broker_changed', { from, to: brokers.configured });
  };

  /** Tries the configured broker while the present connection stays up. */
  const tryConfigured = (): void => {
    cancel();
    cancel = clock.at(clock.now() + TRY_EACH_MS * (0.5 + deps.random() / 2), tryConfigured);
    const target = brokers.configured;
    deps.bus()?.attempt?.(deps.offlineStatus(), (problem) => {
      // The configuration has changed meanwhile: this result is stale.
      if (target !== brokers.configured) return problem === null ? deps.bus()?.reconnect() : tryConfigured();
      if (problem === null) settle();
      else stay(problem);
    });
  };

  const stay = (message: string): void => {
    const to = brokers.previous;
    if (isTold || to === null) return;
    isTold = true;
    const from = brokers.configured;
    log.warn(
      { from, to, reason: message },
      'the new broker does not accept the device; the previous one is used, and the new one is retried',
    );
    deps.tell('broker_returned', { from, to, message });
    deps.away(hostOf(from));
  };

  return {
    connected() {
      isUp = true;
      if (brokers.previous === null) settle();
    },
    failed() {
      isUp = false;
      // The present broker is lost: the configured one may accept the device now.
      if (brokers.previous !== null) tryConfigured();
    },
    changed(mqtt) {
      const isOther = brokers.change(mqtt);
      const from = brokers.previous;
      if (isOther) {
        cancel();
        isTold = false;
        deps.away(null);
        // The pending connection may be to a broker that the configuration no longer names.
        if (from === null && !isUp) deps.bus()?.reconnect();
        if (from !== null)
          log.info({ from, to: brokers.configured }, 'the configuration names another broker; trying it');
      }
      if (from !== null) tryConfigured();
    },
    close: () => cancel(),
  };
}

function hostOf(broker: string): string {
  return broker.replace(/^\w+:\/\//, '');
}
