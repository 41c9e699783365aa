import type { Bus, BusMessage, BusOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { createMqttBus, type MqttConnection } from '../mqtt/bus.ts';

export type Login =
  | {
      readonly ok: true;
      readonly protocol: 4 | 5;
      readonly bus: Bus;
      /** Whether the broker has refused a message of ours; only MQTT 5 reports that. */
      readonly hasRefused: () => boolean;
    }
  | { readonly ok: false; readonly refused: boolean; readonly message: string };

export interface LoginOptions {
  readonly connection: MqttConnection;
  readonly subscriptions: BusOptions['subscriptions'];
  readonly clock: Clock;
  readonly limitMs: number;
  /** Receives the messages of the subscriptions. */
  readonly hear: (message: BusMessage) => void;
}

/**
 * Logs in and subscribes once. Without a will, so the device's published status stays as it is. A broker that hangs up on
 * the first attempt is asked a second time, in the older version of MQTT.
 */
export async function logIn({
  connection,
  subscriptions,
  clock,
  limitMs,
  hear,
}: LoginOptions): Promise<Login> {
  const openBus = createMqttBus(connection, { clock, seed: 1 });
  let failures = 0;
  let close = async (): Promise<void> => {};
  const outcome = await new Promise<Login>((resolve) => {
    let last: string | null = null;
    const fail = (refused: boolean, message: string): void => {
      cancel();
      resolve({ ok: false, refused, message });
    };
    const cancel = clock.at(clock.now() + limitMs, () =>
      fail(false, last ?? `the broker does not answer the login within ${limitMs / 1000} s`),
    );
    const bus = openBus(
      { subscriptions, will: null },
      {
        up: (_, protocol) => {
          cancel();
          resolve({ ok: true, protocol, bus, hasRefused: () => bus.outbox.dropped > 0 });
        },
        down: (problem, message) => {
          failures += 1;
          last = message;
          if (problem !== 'unreachable') fail(true, message);
          else if (failures > 1) fail(false, message);
        },
        message: hear,
      },
    );
    close = () => bus.close();
  });
  if (!outcome.ok) await close();
  return outcome;
}
