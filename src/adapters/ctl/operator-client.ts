import { randomBytes, randomInt } from 'node:crypto';
import type { Bus, BusMessage, BusOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { createMqttBus, type MqttConnection } from '../mqtt/bus.ts';

/** The broker is unreachable, or refuses something. The message is for the operator. */
export class BrokerFailure extends Error {}

/** The broker accepted the login, but refused a message. */
export class RefusedMessage extends BrokerFailure {}

/** An operator's connection to the broker. */
export interface OperatorClient {
  publish: Bus['publish'];
  close(): Promise<void>;
}

export interface OperatorListener {
  message(message: BusMessage): void;
  /** Called after the first connection, with why the connection was lost; null: it is back. */
  connectionChanged?(problem: string | null): void;
  /** Optional subscriptions that the broker refused. */
  unsubscribed?(filters: readonly string[]): void;
  /** The broker refused a message of ours. */
  refused?(reason: string): void;
}

/** A new client identifier for each run, so that two operators can work at the same time. */
export function operatorClientId(): string {
  return `ctl-${randomBytes(9).toString('hex')}`;
}

/**
 * Connects; resolves when the subscriptions are in place.
 * @throws BrokerFailure when the first attempt fails
 */
export function connectOperator(
  connection: MqttConnection,
  clock: Clock,
  subscriptions: BusOptions['subscriptions'],
  listener: OperatorListener,
): Promise<OperatorClient> {
  return new Promise((resolve, reject) => {
    let isUp = false;
    const open = createMqttBus(connection, { clock, seed: randomInt(2 ** 31) });
    const bus: Bus = open(
      { subscriptions, will: null },
      {
        up() {
          if (isUp) return listener.connectionChanged?.(null);
          isUp = true;
          resolve({ publish: (...message) => bus.publish(...message), close: () => bus.close() });
        },
        down(_, message) {
          if (isUp) return listener.connectionChanged?.(message);
          void bus.close();
          reject(new BrokerFailure(message));
        },
        message: (message) => listener.message(message),
        refused: (filters) => listener.unsubscribed?.(filters),
        lost: ({ reason }) => listener.refused?.(reason),
      },
    );
  });
}
