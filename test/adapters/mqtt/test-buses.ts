/** Buses that are closed after the test, and a listener that records. */
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus, type MqttBus, type MqttConnection } from '../../../src/adapters/mqtt/bus.ts';
import type { BusListener, BusMessage, BusOptions, BusProblem, LostMessage } from '../../../src/ports/bus.ts';
import type { Clock } from '../../../src/ports/clock.ts';

export interface Heard {
  readonly ups: { connection: number; protocol: 4 | 5 }[];
  readonly downs: { problem: BusProblem; message: string }[];
  readonly messages: BusMessage[];
  readonly lost: LostMessage[];
  /** The refused subscriptions of each report. */
  readonly refused: (readonly string[])[];
  readonly oversized: { topic: string; bytes: number }[];
  /** All three kinds of events in order: `up 1`, `down refused`, `message a/b`. */
  readonly order: string[];
}

export function createRecordingListener(): { heard: Heard; listener: BusListener } {
  const heard: Heard = { ups: [], downs: [], messages: [], lost: [], refused: [], oversized: [], order: [] };
  return {
    heard,
    listener: {
      up(connection, protocol) {
        heard.ups.push({ connection, protocol });
        heard.order.push(`up ${connection}`);
      },
      down(problem, message) {
        heard.downs.push({ problem, message });
        heard.order.push(`down ${problem}`);
      },
      message(message) {
        heard.messages.push(message);
        heard.order.push(`message ${message.topic}`);
      },
      refused: (filters) => void heard.refused.push(filters),
      lost: (lost) => void heard.lost.push(lost),
      oversized: (topic, bytes) => void heard.oversized.push({ topic, bytes }),
    },
  };
}

export interface OpenedBus extends Heard {
  readonly bus: MqttBus;
}

/** Opens buses and closes them all at the end of a test. */
export function createTestBuses(clock: Clock = createSystemClock()) {
  const opened: MqttBus[] = [];
  return {
    /** "The other broker" of an attempt is the same one, as when only the login changes. */
    open(
      connection: Partial<MqttConnection> & { url: string },
      options: Partial<BusOptions> = {},
      seed = 1,
      onMessage: (message: BusMessage) => void = () => {},
    ): OpenedBus {
      const recorder = createRecordingListener();
      const { heard } = recorder;
      const listener: BusListener = {
        ...recorder.listener,
        message(message) {
          recorder.listener.message(message);
          onMessage(message);
        },
      };
      const target = { clientId: 'museum.kiosk-01', ...connection };
      const bus = createMqttBus(target, { clock, seed, other: () => target })(
        { subscriptions: [], will: null, ...options },
        listener,
      );
      opened.push(bus);
      return { bus, ...heard };
    },
    async closeAll(): Promise<void> {
      await Promise.all(opened.splice(0).map((bus) => bus.close()));
    },
  };
}
