import { createMqttBus, type MqttConnection } from '../../../adapters/mqtt/bus.ts';
import type { BrokerLimit, Bus, BusMessage, BusOptions } from '../../../ports/bus.ts';
import type { Clock } from '../../../ports/clock.ts';

export type Login =
  | {
      readonly ok: true;
      readonly protocol: 4 | 5;
      /** What the broker does not allow. */
      readonly limits: readonly BrokerLimit[];
      readonly bus: Bus;
      /** Whether the broker has refused a message of ours; only MQTT 5 reports that. */
      readonly hasRefused: () => boolean;
    }
  | {
      readonly ok: false;
      readonly refused: boolean;
      readonly message: string;
      /** The broker's own reason, if it gave one. */
      readonly code: number | undefined;
    };

export interface LoginOptions {
  readonly connection: MqttConnection;
  /** Subscriptions, session and will: a broker may refuse each of them. */
  readonly session: BusOptions;
  readonly clock: Clock;
  readonly limitMs: number;
  /** Receives the messages of the subscriptions. */
  readonly hear: (message: BusMessage) => void;
}

/** Logs in and subscribes once. If the first attempt fails without a refusal, there is a second one. */
export async function logIn({ connection, session, clock, limitMs, hear }: LoginOptions): Promise<Login> {
  const openBus = createMqttBus(connection, { clock, seed: 1 });
  let failures = 0;
  let close = async (): Promise<void> => {};
  const outcome = await new Promise<Login>((resolve) => {
    let last: string | null = null;
    let limits: readonly BrokerLimit[] = [];
    const fail = (refused: boolean, message: string, code?: number): void => {
      cancel();
      resolve({ ok: false, refused, message, code });
    };
    const cancel = clock.at(clock.now() + limitMs, () =>
      fail(false, last ?? `the broker does not answer the login within ${limitMs / 1000} s`),
    );
    const bus = openBus(session, {
      limited: (given) => {
        limits = given;
      },
      up: (_, protocol) => {
        cancel();
        resolve({ ok: true, protocol, limits, bus, hasRefused: () => bus.outbox.dropped > 0 });
      },
      down: (problem, message, code) => {
        failures += 1;
        last = message;
        if (problem !== 'unreachable') fail(true, message, code);
        else if (failures > 1) fail(false, message, code);
      },
      message: hear,
    });
    close = () => bus.close();
  });
  if (!outcome.ok) await close();
  return outcome;
}
