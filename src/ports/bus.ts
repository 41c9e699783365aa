/** The device's connection to its owner: publish, subscribe, presence. Payloads are JSON text. */

/** What MQTT 5 carries beside the payload; a 3.1.1 connection drops it. */
export interface RequestProperties {
  readonly responseTopic?: string;
  readonly correlationData?: Uint8Array;
  /** Seconds after which the broker must not deliver it any more. */
  readonly expiryS?: number;
}

/** Shares of the queue: however full one is, the others have theirs. Token requests go first, then answers to commands. */
export type QueueShare = 'tokens' | 'answers' | 'general';

export interface PublishOptions {
  readonly qos?: 0 | 1;
  readonly retain?: boolean;
  readonly properties?: RequestProperties;
  /** Left out: the general one. */
  readonly share?: QueueShare;
  /** Called once: whether the broker has acknowledged the message (QoS 1), or it was given up. */
  readonly ended?: (isDelivered: boolean) => void;
}

/** A QoS 1 message that was given up. */
export interface LostMessage {
  readonly topic: string;
  /** `refused`: by the broker. `undeliverable`: connections kept ending on it. */
  readonly why: 'full' | 'too_large' | 'refused' | 'undeliverable';
  /** A few words for the log. */
  readonly reason: string;
}

export interface BusMessage {
  readonly topic: string;
  readonly payload: string;
  readonly retain: boolean;
  readonly properties: RequestProperties;
  /** The broker sends it again, because it was not acknowledged before a connection ended. */
  readonly again?: true;
  /**
   * Keeps the acknowledgement back until the returned function is called, so that the broker sends the message again
   * should the connection or the program end before. To be called while the message is being delivered.
   */
  readonly hold?: () => () => void;
}

export type BusProblem =
  /** Name, network, TLS or broker down: tried again with a growing wait. */
  | 'unreachable'
  /** Wrong user name, password or certificate, or not allowed. */
  | 'refused'
  /** Another client connects with this device's identifier. */
  | 'taken_over';

export interface BusListener {
  /** The filters that the broker does not allow, where the connection goes on without them. Before `up`, and when it changes. */
  refused?(filters: readonly string[]): void;
  /** Connected, and every subscription is in place. `connection` counts connections of this process from 1. */
  up(connection: number, protocol: 4 | 5): void;
  down(problem: BusProblem, message: string): void;
  message(message: BusMessage): void;
  /** A message too large to be read has come, and was dropped unread. */
  oversized?(topic: string, bytes: number): void;
  lost?(lost: LostMessage): void;
}

export interface Bus {
  readonly connected: boolean;
  /** How many messages wait or are under way, and how many were given up since the start. */
  readonly outbox: { readonly depth: number; readonly dropped: number };
  /**
   * Queues a message while the connection is down (QoS 1 only; bounded, oldest dropped first).
   * Never throws and never blocks; a retained topic's newer message replaces its queued older one.
   */
  publish(topic: string, payload: string, options?: PublishOptions): void;
  /** Whether the connection is needed at once: while it is down, it is then tried again within seconds instead of minutes. */
  urgent(isUrgent: boolean): void;
  /** Somebody else has been seen under this device's name: a connection that is closed without a word was taken by them. */
  disputed?(): void;
  /** A person has changed something: a wait for the next try ends now. Where nothing waits, nothing happens. */
  tryNow?(): void;
  /** Leaves the connection in order and opens the next one at once, with what holds by now: a new certificate. */
  reconnect(): void;
  /**
   * Tries the other broker beside the present one. Where it takes the device, it is the present one from then on, and the
   * one before is left with `finale` as the last word. Nothing happens while a try is under way.
   * @param done told once: null, or why the other one does not take it
   */
  attempt?(
    finale: { topic: string; payload: string; retain: boolean },
    done: (problem: string | null) => void,
  ): void;
  /** Ends the connection in order (`finale` is published last) and disconnects without raising the will. */
  close(finale?: { topic: string; payload: string; retain: boolean }): Promise<void>;
}

export interface Subscription {
  readonly filter: string;
  /** The most that the broker delivers with. With 0 nothing is kept for a client that is away. */
  readonly qos: 0 | 1;
  /** The connection is of use without it: `refused` tells. */
  readonly mayBeRefused: boolean;
}

export interface BusOptions {
  /** A filter alone: QoS 1, and the connection is of no use without it. */
  readonly subscriptions: readonly (string | Subscription)[];
  /** How long the broker keeps what comes while the client is away (MQTT 5). Left out: not at all. */
  readonly keptForS?: number;
  /** Made again for each connection, because it names the connection. */
  readonly will: ((connection: number) => { topic: string; payload: string }) | null;
}

/** Connects in the background and keeps connecting until closed. */
export type OpenBus = (options: BusOptions, listener: BusListener) => Bus;
