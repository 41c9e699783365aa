import type { BusListener, OpenBus } from '../../src/ports/bus.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** A broker without memory, with a short outage from time to time. */
export interface DayBroker {
  readonly openBus: OpenBus;
  /** Sends the agent a message. */
  send(topic: string, payload: string): void;
}

const CONNECT_MS = 100;
const ARRIVES_MS = 20;
/** Broker outages. */
export const AWAY = { everyMs: 7_200_000, forMs: 20_000 };

/** @param received called with each message of the agent */
export function createDayBroker(
  clock: Clock,
  received: (topic: string, payload: string) => void = () => {},
): DayBroker {
  let listener: BusListener | null = null;
  let connections = 0;
  let isUp = false;
  const waiting: (() => void)[] = [];
  const later = (ms: number, act: () => void): void => void clock.at(clock.now() + ms, act);
  const deliver = (act: () => void): void => {
    if (isUp) later(ARRIVES_MS, act);
    else waiting.push(act);
  };
  const comeUp = (): void => {
    isUp = true;
    connections += 1;
    listener?.up(connections, 5);
    for (const act of waiting.splice(0)) deliver(act);
    later(AWAY.everyMs, goAway);
  };
  const goAway = (): void => {
    isUp = false;
    listener?.down('unreachable', 'the broker is away');
    later(AWAY.forMs, comeUp);
  };
  return {
    openBus(_options, given) {
      listener = given;
      later(CONNECT_MS, comeUp);
      return {
        get connected() {
          return isUp;
        },
        outbox: { depth: 0, dropped: 0 },
        urgent() {},
        reconnect() {},
        publish(topic, payload, { ended } = {}) {
          deliver(() => {
            received(topic, payload);
            // The agent keeps each answer until it is acknowledged.
            ended?.(true);
          });
        },
        close: async () => {},
      };
    },
    send: (topic, payload) =>
      deliver(() => listener?.message({ topic, payload, retain: false, properties: {} })),
  };
}
