import type { Handlers } from '../../machine/machine.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Brokers } from '../../ports/brokers.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import type { Config } from '../../protocol/config.ts';
import type { EventDetail, EventKind } from '../../protocol/mqtt/event.ts';
import {
  type BrokerChangeEffect,
  type BrokerChangeEvent,
  brokerChangeMachine,
} from './broker-change-machine.ts';

export interface BrokerChangeDeps {
  readonly runner: Runner;
  readonly brokers: Brokers;
  readonly log: Log;
  /** Spreads the retries of a fleet. */
  readonly seed: number;
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
  const { runner, brokers, seed } = deps;
  const handlers = handlersOf(deps, (event) => post(event));
  const { post, close } = runner.run(brokerChangeMachine(seed), handlers, () => ({
    configured: brokers.configured,
    previous: brokers.previous,
  }));
  return {
    connected: () => post({ type: 'connected' }),
    failed: () => post({ type: 'disconnected' }),
    changed: (mqtt) => post({ type: 'configured', isOther: brokers.change(mqtt) }),
    close,
  };
}

function handlersOf(
  { brokers, log, bus, offlineStatus, tell, away }: BrokerChangeDeps,
  post: (event: BrokerChangeEvent) => void,
): Handlers<BrokerChangeEvent, BrokerChangeEffect> {
  return {
    try({ candidate }) {
      bus()?.attempt?.(offlineStatus(), (problem) => post({ type: 'tried', candidate, problem }));
    },
    settle() {
      brokers.settle();
    },
    reconnect() {
      bus()?.reconnect();
    },
    show_away({ broker }) {
      away(broker === null ? null : hostOf(broker));
    },
    log_candidate({ from, to }) {
      log.info({ from, to }, 'the configuration names another broker; trying it');
    },
    report_change({ from, to }) {
      log.info({ from, to }, 'the new broker accepted the device');
      tell('broker_changed', { from, to });
    },
    report_return({ from, to, message }) {
      log.warn(
        { from, to, reason: message },
        'the new broker does not accept the device; the previous one is used, and the new one is retried',
      );
      tell('broker_returned', { from, to, message });
    },
  };
}

function hostOf(broker: string): string {
  return broker.replace(/^\w+:\/\//, '');
}
