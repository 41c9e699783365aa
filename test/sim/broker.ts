import type { BusListener, BusMessage, BusOptions, OpenBus, PublishOptions } from '../../src/ports/bus.ts';
import type { Dice } from './dice.ts';
import { createMessageStore, type Deliver } from './message-store.ts';
import type { Network } from './network.ts';
import type { ProcessClock, SimClock } from './sim-clock.ts';

/** Messages kept while the connection is down: as many as the real outbox keeps. */
const MOST_WAITING = 500;
const CONNECT_MS = 300;
const RETRY_MS = [1000, 5000] as const;
const RESEND_MS = 1000;

interface Waiting {
  readonly topic: string;
  readonly payload: string;
  readonly options: PublishOptions;
  readonly since: number;
}

/** The broker between the device, its backend and its operator. */
export interface Broker {
  /** The broker is down: it has no connection and accepts none. */
  isDown: boolean;
  /** The broker disconnects each client right after it has connected. */
  kicks: boolean;
  /** Ends the device's connection, if there is one. */
  kick(problem?: 'unreachable' | 'taken_over'): void;
  connectDevice(process: ProcessClock): OpenBus;
  /** Sends a message of the backend or the operator to the device; it is dropped if the device is not connected. */
  toDevice(message: BusMessage, onDelivery?: () => void): void;
  /**
   * Queues a message for the device for as long as a broker keeps the session. It is sent again until it is acknowledged.
   * @param onLost called when the message has waited for too long
   */
  keepForDevice(message: BusMessage, deliver: Deliver, onLost?: () => void): void;
  /** Retains a message: each connection of the device gets it. An empty message removes it. */
  retain(message: BusMessage, deliver: Deliver): void;
  readonly connected: boolean;
}

export interface BrokerWatch {
  /** Messages caught in a black hole are sent again as soon as it ends, not only with the next connection. */
  readonly resends: boolean;
  /** The device publishes a message. */
  published(topic: string, payload: string, options: PublishOptions): void;
  /** A message has reached the broker. */
  arrived(topic: string, payload: string, options: PublishOptions): void;
  finale(payload: string | null): void;
}

export function createBroker(clock: SimClock, dice: Dice, network: Network, watch: BrokerWatch): Broker {
  let session: {
    up(): boolean;
    drop(problem: 'unreachable' | 'taken_over'): void;
    listener: BusListener;
  } | null = null;

  const store = createMessageStore(clock, () => {
    const isReachable = session?.up() === true && !network.blackHole && !broker.isDown;
    return isReachable ? (session?.listener ?? null) : null;
  });

  const broker: Broker = {
    isDown: false,
    kicks: false,
    get connected() {
      return session?.up() === true;
    },
    kick(problem = 'unreachable') {
      session?.drop(problem);
    },
    connectDevice: (process) => (options, listener) => openBus(process, options, listener),
    toDevice(message, onDelivery) {
      const target = session;
      if (target === null || !target.up() || network.blackHole) return;
      clock.at(clock.now() + network.delay(), () => {
        if (session !== target || !target.up()) return;
        onDelivery?.();
        target.listener.message(message);
      });
    },
    keepForDevice: (message, deliver, onLost) =>
      store.keep(message, deliver, onLost ?? (() => {}), network.delay()),
    retain: (message, deliver) => store.retain(message, deliver, network.delay()),
  };

  const openBus = (process: ProcessClock, _options: BusOptions, listener: BusListener) => {
    const waiting: Waiting[] = [];
    let up = false;
    let closed = false;
    let connection = 0;
    let arrival = 0;
    let dropped = 0;

    const arrive = ({ topic, payload, options }: Waiting): void => {
      arrival = Math.max(arrival, clock.now() + network.delay());
      clock.at(arrival, () => {
        // The client sends a message again that was on its way when the connection broke: it arrives late.
        if (broker.isDown || network.blackHole) {
          if (options.qos === 0) return;
          waiting.push({ topic, payload, options, since: clock.now() });
          if (watch.resends) resend();
        } else {
          watch.arrived(topic, payload, options);
          if (process.alive) options.ended?.(true);
        }
      });
    };
    /** Sends again as TCP does while the connection lasts; the next connection sends the rest. */
    const resend = (): void =>
      void process.at(clock.now() + RESEND_MS, () => {
        if (!up || waiting.length === 0) return;
        if (network.blackHole) resend();
        else flush();
      });
    const flush = (): void => {
      for (const message of waiting.splice(0)) {
        const expiryMs = (message.options.properties?.expiryS ?? Number.POSITIVE_INFINITY) * 1000;
        if (clock.now() - message.since <= expiryMs) arrive(message);
      }
    };
    const connect = (): void => {
      if (closed) return;
      if (broker.isDown || network.blackHole || network.dnsFails) return retry();
      connection += 1;
      up = true;
      session = mine;
      flush();
      store.connected();
      listener.up(connection, 5);
      store.subscribed();
      if (broker.kicks) process.at(clock.now() + dice.between(5, 200), () => mine.drop('unreachable'));
    };
    const retry = (): void => {
      process.at(clock.now() + dice.between(...RETRY_MS), connect);
    };
    const mine = {
      listener,
      up: () => up && process.alive,
      drop(problem: 'unreachable' | 'taken_over') {
        if (!up || !process.alive) return;
        up = false;
        listener.down(problem, 'the connection to the broker broke');
        retry();
      },
    };
    process.at(clock.now() + CONNECT_MS + network.delay(), connect);

    return {
      get connected() {
        return up;
      },
      get outbox() {
        return { depth: waiting.length, dropped };
      },
      publish(topic: string, payload: string, options: PublishOptions = {}) {
        if (closed || !process.alive) return;
        watch.published(topic, payload, options);
        const message = { topic, payload, options, since: clock.now() };
        if (up) return arrive(message);
        if (options.qos === 0) return;
        waiting.push(message);
        if (waiting.length <= MOST_WAITING) return;
        waiting.shift()?.options.ended?.(false);
        dropped += 1;
      },
      /** Not needed: the simulated client retries every few seconds anyway. */
      urgent() {},
      /** Not used in the simulated world. */
      reconnect() {},
      close(finale?: { payload: string }) {
        closed = true;
        up = false;
        if (session === mine) session = null;
        watch.finale(finale?.payload ?? null);
        clock.settle();
        return Promise.resolve();
      },
    };
  };
  return broker;
}
