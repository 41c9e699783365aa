/** The device's line to its owner: publish, subscribe, presence. Payloads are JSON text. */

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
}

export type BusProblem =
  /** Name, network, TLS or broker down: tried again with a growing wait. */
  | 'unreachable'
  /** Wrong user name, password or certificate, or not allowed. */
  | 'refused'
  /** Another client connected with this device's identifier. */
  | 'taken_over';

export interface BusListener {
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
   * Queues a message while the line is down (QoS 1 only; bounded, oldest dropped first).
   * Never throws and never blocks; a retained topic's newer message replaces its queued older one.
   */
  publish(topic: string, payload: string, options?: PublishOptions): void;
  /** Whether the line is needed at once: while it is down, it is then tried again within seconds instead of minutes. */
  urgent(isUrgent: boolean): void;
  /** Says goodbye (`finale` is published last) and disconnects without raising the will. */
  close(finale?: { topic: string; payload: string; retain: boolean }): Promise<void>;
}

export interface BusOptions {
  readonly subscriptions: readonly string[];
  /** Made again for each connection, because it names the connection. */
  readonly will: ((connection: number) => { topic: string; payload: string }) | null;
}

/** Connects in the background and keeps connecting until closed. */
export type OpenBus = (options: BusOptions, listener: BusListener) => Bus;
