/** What waits to be sent or acknowledged: QoS 1 messages, in order, bounded. */
import type { LostMessage, RequestProperties, Room } from '../../ports/bus.ts';

export interface Letter {
  readonly topic: string;
  readonly payload: string;
  readonly retain: boolean;
  readonly properties: RequestProperties;
  readonly room: Room;
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
  /** Both together. */
  readonly depth: number;
  /** Given up: the outbox was full, or the message was too large, was refused or could not be sent. */
  readonly dropped: number;
  /** Not sent in time. */
  readonly expired: number;
}

/** A message that took down so many connections is not tried again: the broker can't stomach it. */
const MOST_LOSSES = 3;
/** A topic whose messages make the broker hang up is left alone for so long. */
const SHUN_MS = 600_000;
const MOST_SHUNNED = 100;

/** In this order, whatever came first: a token is waited for, then an answer. */
const ROOMS: readonly Room[] = ['tokens', 'answers', 'general'];

/**
 * Makes an empty outbox. Nothing here knows of sockets; times are monotonic milliseconds.
 * @param limits of each room by itself: however full one is, the others have theirs
 */
export function createOutbox(
  limits: Readonly<Record<Room, OutboxLimits>>,
  onLost: (lost: LostMessage) => void = () => {},
) {
  let letters: Letter[] = [];
  let dropped = 0;
  let expired = 0;
  const shunned = new Map<string, number>();

  const remove = (letter: Letter): boolean => {
    const index = letters.indexOf(letter);
    if (index < 0) return false;
    letters.splice(index, 1);
    return true;
  };
  const drop = (topic: string, why: LostMessage['why'], reason: string): void => {
    dropped += 1;
    onLost({ topic, why, reason });
  };
  const inFlight = (): number => letters.reduce((count, letter) => count + (letter.sent ? 1 : 0), 0);
  const isOver = (room: Room): boolean => {
    let messages = 0;
    let bytes = 0;
    for (const letter of letters) {
      if (letter.room !== room) continue;
      messages += 1;
      bytes += letter.bytes;
    }
    return messages > limits[room].messages || bytes > limits[room].bytes;
  };
  const next = (rooms: readonly Room[]): Letter | undefined => {
    for (const room of rooms) {
      const found = letters.find((letter) => !letter.sent && letter.room === room);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const isShunned = (topic: string, now: number): boolean => {
    const until = shunned.get(topic);
    if (until === undefined || now < until) return until !== undefined;
    shunned.delete(topic);
    return false;
  };

  return {
    /** Queues at the end. A retained topic's older message that has not been sent gives way. */
    add(
      topic: string,
      payload: string,
      options: { retain: boolean; properties: RequestProperties; room?: Room },
      now: number,
    ): void {
      const { room = 'general' } = options;
      const size = Buffer.byteLength(topic) + Buffer.byteLength(payload);
      if (size > limits[room].bytes) return drop(topic, 'too_large', 'it is larger than the queue');
      if (isShunned(topic, now)) return drop(topic, 'refused', 'the broker refused this topic a while ago');
      if (options.retain) {
        const older = letters.find((letter) => letter.retain && letter.topic === topic && !letter.sent);
        if (older !== undefined) remove(older);
      }
      letters.push({
        ...{ topic, payload, room, retain: options.retain, properties: options.properties },
        ...{ queuedAt: now, bytes: size, sent: false, losses: 0 },
      });
      while (isOver(room)) {
        const oldest = next([room]);
        if (oldest === undefined) break;
        remove(oldest);
        drop(oldest.topic, 'full', 'newer messages took its place');
      }
    },

    /**
     * The next message to send, now marked as sent; null when none waits. What has expired is left out.
     * @param rooms what to choose from (left out: all)
     */
    take(now: number, rooms: readonly Room[] = ROOMS): Letter | null {
      for (;;) {
        const letter = next(rooms);
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
    discard(letter: Letter, why: LostMessage['why'], reason: string): void {
      if (remove(letter)) drop(letter.topic, why, reason);
    },

    /** What is published to a topic that made the broker hang up is given up for a while, without asking it again. */
    shun(topic: string, now: number): void {
      if (shunned.size >= MOST_SHUNNED) shunned.clear();
      shunned.set(topic, now + SHUN_MS);
      for (const letter of letters.filter((each) => each.topic === topic && !each.sent)) {
        remove(letter);
        drop(topic, 'refused', 'the broker refused this topic');
      }
    },

    /**
     * The connection is gone: what was under way waits again, before everything newer.
     * @returns the topic of a message that was under way alone not for the first time: it may be the cause
     */
    unsend(): string | null {
      const flying = letters.filter((letter) => letter.sent);
      const [only] = flying;
      const suspect = flying.length === 1 && only !== undefined && only.losses > 0 ? only.topic : null;
      const given: Letter[] = [];
      letters = letters.filter((letter, index) => {
        if (!letter.sent) return true;
        letter.sent = false;
        letter.losses += 1;
        const replacesIt = (other: Letter, at: number): boolean =>
          at > index && other.retain && other.topic === letter.topic;
        if (letter.retain && letters.some(replacesIt)) return false;
        if (letter.losses < MOST_LOSSES) return true;
        given.push(letter);
        return false;
      });
      for (const { topic } of given) {
        drop(topic, 'undeliverable', `${MOST_LOSSES} connections ended before the broker acknowledged it`);
      }
      return suspect;
    },

    /** Whether a message waits that a connection ended on: then one at a time, so that only the cause is blamed. */
    get isSuspicious(): boolean {
      return letters.some((letter) => letter.losses > 0);
    },
    inFlight,
    get size(): number {
      return letters.length;
    },
    get counts(): OutboxCounts {
      const flying = inFlight();
      return {
        ...{ waiting: letters.length - flying, inFlight: flying, depth: letters.length },
        ...{ dropped, expired },
      };
    },
  };
}
export type Outbox = ReturnType<typeof createOutbox>;

/** Seconds of life that a message has left when it is sent `now`; undefined when it has no end. At least 1. */
export function expiryLeftS(letter: Letter, now: number): number | undefined {
  const { expiryS } = letter.properties;
  return expiryS === undefined ? undefined : Math.max(1, Math.ceil(expiryS - (now - letter.queuedAt) / 1000));
}
