/** The device's connection to its owner: publish, subscribe, presence. Payloads are JSON text. */

/** MQTT 5 properties of a message; a 3.1.1 connection drops them. */
export interface RequestProperties {
  readonly responseTopic?: string;
  readonly correlationData?: Uint8Array;
  /** Seconds after which the broker must not deliver it. */
  readonly expiryS?: number;
}

/** Shares of the queue: when one is full, the others still have room. Token requests go first, then answers to commands. */
export type QueueShare = 'tokens' | 'answers' | 'general';

export interface PublishOptions {
  readonly qos?: 0 | 1;
  readonly retain?: boolean;
  readonly properties?: RequestProperties;
  /** Default: `general`. */
  readonly share?: QueueShare;
  /** Called once, when the broker has acknowledged the message (QoS 1) or the message was dropped. */
  readonly ended?: (isDelivered: boolean) => void;
}

/** A QoS 1 message that was dropped. */
export interface LostMessage {
  readonly topic: string;
  /** `refused`: by the broker. `undeliverable`: every attempt to send it ended the connection. */
  readonly why: 'full' | 'too_large' | 'refused' | 'undeliverable';
  /** A few words for the log. */
  readonly reason: string;
}

export interface BusMessage {
  readonly topic: string;
  readonly payload: string;
  readonly retain: boolean;
  readonly properties: RequestProperties;
  /** Redelivered by the broker, because a connection ended before the acknowledgement. */
  readonly again?: true;
  /**
   * Holds the acknowledgement back until the returned function is called. If the connection or the program ends first, the broker
   * sends the message again. Call this while the message is being delivered.
   */
  readonly hold?: () => () => void;
}

/** Why there is no connection to a broker, each with its explanation for owners. The table in docs/operate.md is generated from this. */
export const BUS_PROBLEMS = {
  unreachable: {
    means: 'Name resolution, network or TLS failed, or the broker is down.',
    todo: 'Check the network, and that the broker runs. The program keeps trying.',
  },
  refused: {
    means: 'The broker refuses the login, or a file for the login cannot be used.',
    todo: 'Check user name, password, certificate, and the rules of the broker: `dragoman doctor`, check `broker`.',
  },
  taken_over: {
    means: 'Another client connected under the same name.',
    todo: 'Follow the advice for the reason `identity_conflict`. Give each backend its own client identifier.',
  },
} as const satisfies Record<string, { readonly means: string; readonly todo: string }>;
export type BusProblem = keyof typeof BUS_PROBLEMS;

/** What the broker does not allow: retained messages, or QoS 1. */
export type BrokerLimit = 'retain' | 'qos';

export interface BusListener {
  /** The broker's limits on this connection. Called before each `up`. */
  limited?(limits: readonly BrokerLimit[]): void;
  /** The filters that the broker refused on a connection that goes on without them. Called before `up`, and on changes. */
  refused?(filters: readonly string[]): void;
  /** Connected, with every subscription that the broker accepted. `connection` counts the connections of this process from 1. */
  up(connection: number, protocol: 4 | 5): void;
  /** @param code the broker's own reason, if it gave one: MQTT 5 reason code, or MQTT 3.1.1 return code below 6 */
  down(problem: BusProblem, message: string, code?: number): void;
  message(message: BusMessage): void;
  /** A message was too large to be read, and was dropped. */
  oversized?(topic: string, bytes: number): void;
  lost?(lost: LostMessage): void;
}

export interface Bus {
  readonly connected: boolean;
  /** How many messages wait or are in flight, and how many were dropped since the start. */
  readonly outbox: { readonly depth: number; readonly dropped: number };
  /**
   * Queues a message while the connection is down (QoS 1 only; bounded, oldest dropped first). Never throws and never blocks. On a
   * retained topic, a newer message replaces a queued older one.
   */
  publish(topic: string, payload: string, options?: PublishOptions): void;
  /** Whether the connection is needed at once: while it is down, retries then come within seconds instead of minutes. */
  urgent(isUrgent: boolean): void;
  /** Whether another client is known to use this device's identifier: that client may be the cause of disconnects. */
  disputed?(isDisputed: boolean): void;
  /** A person has changed something: ends the wait for the next attempt, if there is one. */
  tryNow?(): void;
  /** Closes the connection cleanly and opens the next one at once, with the present settings, such as a new certificate. */
  reconnect(): void;
  /**
   * Tries the other broker while the present connection stays up. If that broker accepts the device, it becomes the present one, and
   * the old connection is closed with `finale` as its last message. Does nothing while an attempt is running.
   * @param done called once: null, or why the other broker does not accept the device
   */
  attempt?(
    finale: { topic: string; payload: string; retain: boolean },
    done: (problem: string | null) => void,
  ): void;
  /** Cancels all subscriptions of this connection. Resolves when the broker has acknowledged that, or after 1 s. */
  unsubscribe?(): Promise<void>;
  /** Closes the connection cleanly, with `finale` as its last message and without raising the will. */
  close(finale?: { topic: string; payload: string; retain: boolean }): Promise<void>;
}

export interface Subscription {
  readonly filter: string;
  /** Highest QoS of deliveries. With 0 the broker keeps nothing for a client that is away. */
  readonly qos: 0 | 1;
  /** The connection is useful without this subscription; `refused` reports its refusal. */
  readonly mayBeRefused: boolean;
  /** Excludes retained messages (MQTT 5): none are expected there, and devices could fill the broker's queue with them. */
  readonly isWithoutRetained?: boolean;
}

export interface BusOptions {
  /** A plain filter has QoS 1, and the connection is useless without it. */
  readonly subscriptions: readonly (string | Subscription)[];
  /** How long the broker keeps messages while the client is away (MQTT 5). Default: not at all. */
  readonly keptForS?: number;
  /** Larger payloads (bytes) are dropped unread, and `oversized` reports them. Default: more than any message of a device needs. */
  readonly largestBytes?: number;
  /** Called for each connection, because the will names the connection. */
  readonly will: ((connection: number) => { topic: string; payload: string }) | null;
}

/** Connects in the background and keeps connecting until closed. */
export type OpenBus = (options: BusOptions, listener: BusListener) => Bus;
