/** The queue of QoS 1 messages to be sent or acknowledged: ordered and bounded. */
import type { LostMessage, QueueShare, RequestProperties } from '../../ports/bus.ts';
import { createBlockedTopics } from './blocked-topics.ts';

export interface OutboxMessage {
  readonly topic: string;
  readonly payload: string;
  readonly retain: boolean;
  readonly properties: RequestProperties;
  readonly share: QueueShare;
  /** Called once, with whether the broker has acknowledged the message. */
  readonly ended: ((isDelivered: boolean) => void) | undefined;
  readonly queuedAt: number;
  readonly bytes: number;
  /** In flight on the present connection, not acknowledged yet. */
  sent: boolean;
  /** How many connections ended before the broker acknowledged it. */
  losses: number;
}

export interface OutboxLimits {
  readonly messages: number;
  readonly bytes: number;
}

type Lost = Pick<OutboxMessage, 'topic' | 'ended'>;

const REFUSED = 'the broker refused this topic';

/** Counts of dropped and waiting messages. */
export interface OutboxCounts {
  readonly waiting: number;
  readonly inFlight: number;
  /** `waiting` and `inFlight` together. */
  readonly depth: number;
  /** Dropped: the outbox was full, or the message was too large, refused or undeliverable. */
  readonly dropped: number;
  /** Messages that expired before they were sent. */
  readonly expired: number;
}

/** After this many connections have ended with a message unacknowledged, the message is dropped: it may be what ends them. */
const MOST_LOSSES = 10;

/** Sending order of the shares: tokens are the most urgent, then answers. */
const SHARES: readonly QueueShare[] = ['tokens', 'answers', 'general'];

/** Queues messages in flight again, except those that a newer message replaces, and those with too many lost connections. */
function takeBack(queue: readonly OutboxMessage[], isAboutMessage: boolean) {
  const abandoned: OutboxMessage[] = [];
  const replaced: OutboxMessage[] = [];
  const waiting = queue.filter((message, index) => {
    if (!message.sent) return true;
    message.sent = false;
    if (isAboutMessage) message.losses += 1;
    const isReplaced =
      message.retain &&
      queue.some((other, at) => at > index && other.retain && other.topic === message.topic);
    if (!isReplaced && message.losses < MOST_LOSSES) return true;
    (isReplaced ? replaced : abandoned).push(message);
    return false;
  });
  return { waiting, replaced, given: abandoned };
}

/**
 * Makes an empty outbox. It knows nothing of sockets; times are monotonic milliseconds.
 * @param limits of each share: when one is full, the others still have room
 */
export function createOutbox(
  limits: Readonly<Record<QueueShare, OutboxLimits>>,
  onLost: (lost: LostMessage) => void = () => {},
) {
  let queue: OutboxMessage[] = [];
  let dropped = 0;
  let expired = 0;
  const blocked = createBlockedTopics();

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
      const nextMessage = queue.find((message) => !message.sent && message.share === share);
      if (nextMessage !== undefined) return nextMessage;
    }
    return undefined;
  };

  return {
    /** Adds a message at the end. It replaces a retained message on the same topic that has not been sent. */
    add(
      topic: string,
      payload: string,
      options: Pick<OutboxMessage, 'retain' | 'properties'> & Partial<Pick<OutboxMessage, 'share' | 'ended'>>,
      now: number,
    ): void {
      const { share = 'general', ended } = options;
      const lostMessage: Lost = { topic, ended };
      const size = Buffer.byteLength(topic) + Buffer.byteLength(payload);
      if (size > limits[share].bytes) return drop(lostMessage, 'too_large', 'it is larger than the queue');
      if (blocked.has(topic, now)) return drop(lostMessage, 'refused', `${REFUSED} a while ago`);
      const isOlder = (message: OutboxMessage): boolean =>
        message.retain && message.topic === topic && !message.sent;
      const older = options.retain ? queue.find(isOlder) : undefined;
      if (older !== undefined && remove(older)) older.ended?.(false);
      queue.push({
        topic,
        payload,
        share,
        ended,
        retain: options.retain,
        properties: options.properties,
        queuedAt: now,
        bytes: size,
        sent: false,
        losses: 0,
      });
      while (isOver(share)) {
        const oldest = next([share]);
        if (oldest === undefined) break;
        remove(oldest);
        drop(oldest, 'full', 'newer messages took its place');
      }
    },

    /**
     * The next message to send, now marked as sent; null when none waits. Expired messages are skipped.
     * @param shares to choose from (default: all)
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

    /** The broker has acknowledged it. */
    settle(message: OutboxMessage): void {
      if (remove(message)) message.ended?.(true);
    },

    /** Drops a message that cannot be sent at all. */
    dropNow(message: OutboxMessage, why: LostMessage['why'], reason: string): void {
      if (remove(message)) drop(message, why, reason);
    },

    /** Blocks a topic that the broker has refused: for a while, its messages are dropped without being sent. */
    block({ topic, share }: Pick<OutboxMessage, 'topic' | 'share'>, now: number): void {
      blocked.add(topic, now, share === 'tokens');
      for (const message of queue.filter((each) => each.topic === topic && !each.sent)) {
        remove(message);
        drop(message, 'refused', REFUSED);
      }
    },
    isBlocked: blocked.has,

    /** The topic of the only message in flight; null if there are none or several. */
    unansweredTopic(): string | null {
      const [only, second] = queue.filter((message) => message.sent);
      return only !== undefined && second === undefined ? only.topic : null;
    },

    /**
     * The connection is lost: messages in flight wait again, before all newer ones.
     * @param isAboutMessage false: the connection certainly did not end because of a message
     */
    unsend(isAboutMessage = true): void {
      const { waiting, replaced, given } = takeBack(queue, isAboutMessage);
      queue = waiting;
      for (const message of replaced) message.ended?.(false);
      for (const message of given) {
        const reason = `${message.losses} connections ended before the broker acknowledged it`;
        drop(message, 'undeliverable', reason);
      }
    },

    /**
     * Whether a connection ended before a message was acknowledged. Then messages are sent one at a time, so that losses
     * add up only for the message that causes them.
     */
    isSuspicious: (): boolean => queue.some(({ losses }) => losses > 0),
    inFlight,
    get size(): number {
      return queue.length;
    },
    get counts(): OutboxCounts {
      const flying = inFlight();
      return {
        waiting: queue.length - flying,
        inFlight: flying,
        depth: queue.length,
        dropped,
        expired,
      };
    },
  };
}
export type Outbox = ReturnType<typeof createOutbox>;

/** Seconds until a message sent `now` expires, at least 1; undefined when it does not expire. */
export function expiryLeftS(message: OutboxMessage, now: number): number | undefined {
  const { expiryS } = message.properties;
  return expiryS === undefined
    ? undefined
    : Math.max(1, Math.ceil(expiryS - (now - message.queuedAt) / 1000));
}
