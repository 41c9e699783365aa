/** The connection to the owner over MQTT (port `Bus`): keeps connecting, keeps QoS 1 messages, and never throws. */
import type { Bus, OpenBus } from '../../ports/bus.ts';
import { disconnectGracefully } from './clean-disconnect.ts';
import type { MqttConnection } from './endpoint.ts';
import { type ConnectionDeps, KeptConnection } from './keep-connected.ts';
import { createOutbox, type OutboxCounts, type OutboxLimits } from './outbox.ts';
import { subscriptionsOf } from './subscribe.ts';

export type { MqttConnection } from './endpoint.ts';

export interface MqttBusDeps extends ConnectionDeps {
  readonly outbox?: OutboxLimits;
}

/** The `Bus` port, plus queue counts that an operator can see. */
export interface MqttBus extends Bus {
  readonly outbox: OutboxCounts;
}

const OUTBOX_LIMITS: OutboxLimits = { messages: 500, bytes: 1_048_576 };
/** Far more than a device's lanes can request at once. */
const TOKEN_LIMITS: OutboxLimits = { messages: 64, bytes: 131_072 };
const LONGEST_TOPIC_BYTES = 65_535;
const UNSUBSCRIBE_WITHIN_MS = 1000;

/**
 * Makes the function that opens the port for one broker.
 * @param given if it is a function, it is called at each connection, because certificates change; it must not throw
 */
export function createMqttBus(
  given: MqttConnection | (() => MqttConnection),
  deps: MqttBusDeps,
): (...args: Parameters<OpenBus>) => MqttBus {
  return (options, listener) => {
    const limits = deps.outbox ?? OUTBOX_LIMITS;
    const outbox = createOutbox({ general: limits, answers: limits, tokens: TOKEN_LIMITS }, (lost) =>
      listener.lost?.(lost),
    );
    const connection = typeof given === 'function' ? given : () => given;
    const kept = new KeptConnection(connection, deps, outbox, options, listener);
    let closed: Promise<void> | null = null;
    return {
      get connected() {
        return kept.isUp && closed === null;
      },
      get outbox() {
        return outbox.counts;
      },
      publish(topic, payload, { qos = 1, retain = false, properties = {}, share = 'general', ended } = {}) {
        if (closed !== null || !isTopic(topic)) return void ended?.(false);
        if (qos === 1) {
          outbox.add(topic, payload, { retain, properties, share, ended }, deps.clock.now());
          kept.pump();
          return;
        }
        kept.publishFleeting({ topic, payload, retain, properties });
      },
      urgent(isUrgent) {
        if (closed === null) kept.urgent(isUrgent);
      },
      disputed: (isDisputed) => kept.disputed(isDisputed),
      tryNow() {
        if (closed === null) kept.tryNow();
      },
      attempt(finale, done) {
        if (closed === null) kept.attempt(finale, done);
      },
      reconnect() {
        if (closed === null) kept.reconnect();
      },
      unsubscribe: () =>
        new Promise((resolve) => {
          const cancel = deps.clock.at(deps.clock.now() + UNSUBSCRIBE_WITHIN_MS, resolve);
          const done = (): void => {
            cancel();
            resolve();
          };
          const link = kept.link();
          if (link === null) done();
          else link.unsubscribe(subscriptionsOf(options), done);
        }),
      close(finale) {
        if (closed === null) {
          kept.close();
          closed = disconnectGracefully(kept, deps.clock, finale);
        }
        return closed;
      },
    };
  };
}

/** Whether a topic may be published to; any other would end the connection, again and again. */
function isTopic(topic: string): boolean {
  return topic !== '' && !/[+#\0]/.test(topic) && Buffer.byteLength(topic) <= LONGEST_TOPIC_BYTES;
}
