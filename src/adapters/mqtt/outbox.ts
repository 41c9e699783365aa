/** What waits to be sent or acknowledged: QoS 1 messages, in order, bounded. */
import type { LostMessage, QueueShare, RequestProperties } from '../../ports/bus.ts';
import { createShunned } from './shunned.ts';

export interface OutboxMessage {
  readonly topic: string;
  readonly payload: string;
  readonly retain: boolean;
  readonly properties: RequestProperties;
  readonly share: QueueShare;
  /** Told once: whether the broker has it. */
  readonly ended: ((isDelivered: boolean) => void) | undefined;
  readonly queuedAt: number;
  readonly bytes: number;
  /** On its way over the present connection, not acknowledged yet. */
  sent: boolean;
  /** How many connections ended without acknowledging it, or what it has replaced. */
  losses: number;
}

export interface OutboxLimits {
  readonly messages: number;
  readonly bytes: number;
}

type Lost = Pick<OutboxMessage, 'topic' | 'ended'>;

const REFUSED = 'the broker refused this topic';

/** What became of messages that never reached the broker, and what is waiting. */
export interface OutboxCounts {
  readonly waiting: number;
  readonly inFlight: number;
  /** Both together. */
  readonly depth: number;
  /** Given up: the outbox was full, or the message was too large, was refused or could not be sent. */
  readonly dropped: number;
  /** Not sent in time. */
  readonly expired: number;
}

/**
 * A message that this many connections ended on is not tried again: the broker may end them because of it. An answer is
 * owed, and is a harmless message: many more accidents are believed of it.
 */
const MOST_LOSSES: Readonly<Record<QueueShare, number>> = { tokens: 3, answers: 10, general: 3 };

/** In this order, whatever came first: a token is waited for, then an answer. */
const SHARES: readonly QueueShare[] = ['tokens', 'answers', 'general'];

/**
 * What was under way waits again, but for what a newer one replaces, and what too many connections have ended on.
 * @param blamed its messages wait in any case: they have a worse end
 */
function takeBack(queue: readonly OutboxMessage[], isAboutMessage: boolean, blamed: string | null) {
  const given: OutboxMessage[] = [];
  const replaced: OutboxMessage[] = [];
  const sent = new Set(queue.filter((message) => message.sent));
  for (const message of sent) {
    message.sent = false;
    if (isAboutMessage) message.losses += 1;
  }
  const waiting = queue.filter((message, index) => {
    if (!sent.has(message)) return true;
    const replacesIt = (other: OutboxMessage, at: number): boolean =>
      at > index && other.retain && other.topic === message.topic;
    const newer = message.retain ? queue.find(replacesIt) : undefined;
    // A status is new with each connection: it would never be found out.
    if (newer !== undefined) newer.losses = Math.max(newer.losses, message.losses);
    const isKept = message.losses < MOST_LOSSES[message.share] || message.topic === blamed;
    if (newer === undefined && isKept) return true;
    (newer === undefined ? given : replaced).push(message);
    return false;
  });
  return { waiting, replaced, given };
}

/**
 * Makes an empty outbox. Nothing here knows of sockets; times are monotonic milliseconds.
 * @param limits of each room by itself: however full one is, the others have theirs
 */
export function createOutbox(
  limits: Readonly<Record<QueueShare, OutboxLimits>>,
  onLost: (lost: LostMessage) => void = () => {},
) {
  let queue: OutboxMessage[] = [];
  let dropped = 0;
  let expired = 0;
  const shunned = createShunned();

  const remove = (message: OutboxMessage): boolean => {
    const index = queue.indexOf(message);
    if (index < 0) return false;
    queue.splice(index, 1);
    return true;
  };
  const drop = (message: Lost, why: LostMessage['why'], reason: string): void => {
    dropped += 1;
    onLost({ topic: message.topic, why, reason });
    message.ended?.(false);
  };
  const inFlight = (): number => queue.reduce((count, message) => count + (message.sent ? 1 : 0), 0);
  const isOver = (share: QueueShare): boolean => {
    let messages = 0;
    let bytes = 0;
    for (const message of queue) {
      if (message.share !== share) continue;
      messages += 1;
      bytes += message.bytes;
    }
    return messages > limits[share].messages || bytes > limits[share].bytes;
  };
  const next = (shares: readonly QueueShare[]): OutboxMessage | undefined => {
    for (const share of shares) {
      const found = queue.find((message) => !message.sent && message.share === share);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  return {
    /** Queues at the end. A retained topic's older message that has not been sent gives way. */
    add(
      topic: string,
      payload: string,
      options: Pick<OutboxMessage, 'retain' | 'properties'> & Partial<Pick<OutboxMessage, 'share' | 'ended'>>,
      now: number,
    ): void {
      const { share = 'general', ended } = options;
      const given: Lost = { topic, ended };
      const size = Buffer.byteLength(topic) + Buffer.byteLength(payload);
      if (size > limits[share].bytes) return drop(given, 'too_large', 'it is larger than the queue');
      if (shunned.has(topic, now)) return drop(given, 'refused', `${REFUSED} a while ago`);
      const isOlder = (message: OutboxMessage): boolean =>
        message.retain && message.topic === topic && !message.sent;
      const older = options.retain ? queue.find(isOlder) : undefined;
      if (older !== undefined && remove(older)) older.ended?.(false);
      queue.push({
        ...{ topic, payload, share, ended, retain: options.retain, properties: options.properties },
        ...{ queuedAt: now, bytes: size, sent: false, losses: older?.losses ?? 0 },
      });
      while (isOver(share)) {
        const oldest = next([share]);
        if (oldest === undefined) break;
        remove(oldest);
        drop(oldest, 'full', 'newer messages took its place');
      }
    },

    /**
     * The next message to send, now marked as sent; null when none waits. What has expired is left out.
     * @param rooms what to choose from (left out: all)
     */
    take(now: number, shares: readonly QueueShare[] = SHARES): OutboxMessage | null {
      for (;;) {
        const message = next(shares);
        if (message === undefined) return null;
        const { expiryS } = message.properties;
        if (expiryS !== undefined && now - message.queuedAt >= expiryS * 1000) {
          remove(message);
          expired += 1;
          message.ended?.(false);
          continue;
        }
        message.sent = true;
        return message;
      }
    },

    /** The broker has it. */
    settle(message: OutboxMessage): void {
      shunned.forgive(message.topic);
      if (remove(message)) message.ended?.(true);
    },

    /** It can't be sent at all. */
    dropNow(message: OutboxMessage, why: LostMessage['why'], reason: string): void {
      if (remove(message)) drop(message, why, reason);
    },

    /** What is published to a topic that made the broker hang up is given up for a while, without asking it again. */
    shun(topic: string, now: number): void {
      shunned.add(topic, now);
      for (const message of queue.filter((each) => each.topic === topic && !each.sent)) {
        remove(message);
        drop(message, 'refused', REFUSED);
      }
    },
    isShunned: shunned.has,
    isDoubtful: shunned.isDoubtful,

    /** Tells of a message that was never in here. */
    tellRefused: (topic: string): void => drop({ topic, ended: undefined }, 'refused', REFUSED),

    /**
     * The topic of the message that is under way alone, where connections have ended on it before: to be asked at the end of one.
     * @param isLikely that a message is the cause: an answer is blamed as soon as any other
     */
    suspect(now: number, isLikely: boolean): string | null {
      const [only, second] = queue.filter((message) => message.sent);
      if (only === undefined || second !== undefined) return null;
      const most = only.share === 'answers' && !isLikely ? MOST_LOSSES.answers - 2 : 0;
      return only.losses > most || shunned.isDoubtful(only.topic, now) ? only.topic : null;
    },

    /**
     * The connection is gone: what was under way waits again, before everything newer.
     * @param isAboutMessage false: it surely did not end because of a message
     * @param blamed the topic that is about to be shunned
     */
    unsend(isAboutMessage = true, blamed: string | null = null): void {
      const { waiting, replaced, given } = takeBack(queue, isAboutMessage, blamed);
      queue = waiting;
      for (const message of replaced) message.ended?.(false);
      for (const message of given) {
        const reason = `${message.losses} connections ended before the broker acknowledged it`;
        drop(message, 'undeliverable', reason);
      }
    },

    /** Whether a message waits that a connection ended on: then one at a time, so that only the cause is blamed. */
    isSuspicious: (now: number): boolean =>
      queue.some(({ losses, topic }) => losses > 0 || shunned.isDoubtful(topic, now)),
    inFlight,
    get size(): number {
      return queue.length;
    },
    get counts(): OutboxCounts {
      const flying = inFlight();
      return {
        ...{ waiting: queue.length - flying, inFlight: flying, depth: queue.length },
        ...{ dropped, expired },
      };
    },
  };
}
export type Outbox = ReturnType<typeof createOutbox>;

/** Seconds of life that a message has left when it is sent `now`; undefined when it has no end. At least 1. */
export function expiryLeftS(message: OutboxMessage, now: number): number | undefined {
  const { expiryS } = message.properties;
  return expiryS === undefined
    ? undefined
    : Math.max(1, Math.ceil(expiryS - (now - message.queuedAt) / 1000));
}
