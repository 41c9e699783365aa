/** What waits to be sent or acknowledged: QoS 1 messages, in order, bounded. */
import type { RequestProperties } from '../../ports/bus.ts';

export interface Letter {
  readonly topic: string;
  readonly payload: string;
  readonly retain: boolean;
  readonly properties: RequestProperties;
  readonly queuedAt: number;
  readonly bytes: number;
  /** On its way over the present connection, not acknowledged yet. */
  sent: boolean;
  /** How many connections ended without acknowledging it. */
  losses: number;
}

export interface OutboxLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** What became of messages that never reached the broker, and what is waiting. */
export interface OutboxCounts {
  readonly waiting: number;
  readonly inFlight: number;
  /** Dropped because the outbox was full or the message was too large or could not be sent. */
  readonly dropped: number;
  /** Not sent in time. */
  readonly expired: number;
}

/** A message that took down so many connections is not tried again: the broker can't stomach it. */
const MOST_LOSSES = 3;

/** Makes an empty outbox. Nothing here knows of sockets; times are monotonic milliseconds. */
export function createOutbox(limits: OutboxLimits) {
  let letters: Letter[] = [];
  let bytes = 0;
  let dropped = 0;
  let expired = 0;

  const remove = (letter: Letter): boolean => {
    const index = letters.indexOf(letter);
    if (index < 0) return false;
    letters.splice(index, 1);
    bytes -= letter.bytes;
    return true;
  };
  const inFlight = (): number => letters.reduce((count, letter) => count + (letter.sent ? 1 : 0), 0);

  return {
    /** Queues at the end. A retained topic's older message that has not been sent gives way. */
    add(
      topic: string,
      payload: string,
      options: { retain: boolean; properties: RequestProperties },
      now: number,
    ): void {
      const size = Buffer.byteLength(topic) + Buffer.byteLength(payload);
      if (size > limits.bytes) {
        dropped += 1;
        return;
      }
      if (options.retain) {
        const older = letters.find((letter) => letter.retain && letter.topic === topic && !letter.sent);
        if (older !== undefined) remove(older);
      }
      letters.push({ topic, payload, ...options, queuedAt: now, bytes: size, sent: false, losses: 0 });
      bytes += size;
      while (letters.length > limits.messages || bytes > limits.bytes) {
        const oldest = letters.find((letter) => !letter.sent);
        if (oldest === undefined) break;
        remove(oldest);
        dropped += 1;
      }
    },

    /** The next message to send, now marked as sent; null when none waits. What has expired is left out. */
    take(now: number): Letter | null {
      for (;;) {
        const letter = letters.find((candidate) => !candidate.sent);
        if (letter === undefined) return null;
        const { expiryS } = letter.properties;
        if (expiryS !== undefined && now - letter.queuedAt >= expiryS * 1000) {
          remove(letter);
          expired += 1;
          continue;
        }
        letter.sent = true;
        return letter;
      }
    },

    /** The broker has it. */
    settle(letter: Letter): void {
      remove(letter);
    },

    /** It can't be sent at all. */
    discard(letter: Letter): void {
      if (remove(letter)) dropped += 1;
    },

    /** The connection is gone: what was under way waits again, before everything newer. */
    unsend(): void {
      const kept = letters.filter((letter, index) => {
        if (!letter.sent) return true;
        letter.sent = false;
        letter.losses += 1;
        const replacesIt = (other: Letter, at: number): boolean =>
          at > index && other.retain && other.topic === letter.topic;
        if (letter.retain && letters.some(replacesIt)) return false;
        if (letter.losses < MOST_LOSSES) return true;
        dropped += 1;
        return false;
      });
      letters = kept;
      bytes = letters.reduce((sum, letter) => sum + letter.bytes, 0);
    },

    inFlight,
    get size(): number {
      return letters.length;
    },
    get counts(): OutboxCounts {
      const flying = inFlight();
      return { waiting: letters.length - flying, inFlight: flying, dropped, expired };
    },
  };
}
export type Outbox = ReturnType<typeof createOutbox>;

/** Seconds of life that a message has left when it is sent `now`; undefined when it has no end. At least 1. */
export function expiryLeftS(letter: Letter, now: number): number | undefined {
  const { expiryS } = letter.properties;
  return expiryS === undefined ? undefined : Math.max(1, Math.ceil(expiryS - (now - letter.queuedAt) / 1000));
}
