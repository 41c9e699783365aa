import { UNDISPUTED_AFTER_MS } from '../../core/retry/reconnect.ts';
import type { Clock } from '../../ports/clock.ts';
import { createFleetingSuspects } from './blocked-topics.ts';
import type { Ending } from './end-reasons.ts';
import type { Link, Outgoing } from './link.ts';
import { expiryLeftS, type Outbox, type OutboxMessage } from './outbox.ts';

/** Longest time without an acknowledgement (milliseconds): a broker that only answers pings counts as broken. */
const ACKNOWLEDGE_WITHIN_MS = 30_000;
/** Bytes of fixed header, topic length, packet identifier and properties: a generous bound. */
const PACKET_OVERHEAD_BYTES = 256;
/** Time after a refusal in which a hang-up counts as its consequence (milliseconds). */
const REFUSAL_LASTS_MS = 5000;
/** Slots of the broker's window kept for token requests, when it is wide enough. */
const RESERVED = 1;
const WIDE_ENOUGH = 4;

/** Sends messages from the outbox over the present link, as far as the broker's window allows. */
export interface Sender {
  /** From now on messages go over `link`. */
  attach(link: Link): void;
  /**
   * The link is gone or useless: unacknowledged messages wait again.
   * @param ending how the link ended, if it did
   * @param isMistakable it looks like another client with our name, which would cost minutes: a message is blamed sooner
   * @returns the topic of the message that caused the end, if one is to blame
   */
  detach(ending?: Ending, isMistakable?: boolean): string | null;
  /** Sends a fleeting message (QoS 0) now, or drops it. */
  fleeting(over: Link, message: Omit<Outgoing, 'qos'>): void;
  /** Another client uses our name. */
  otherSeen(): void;
  /** Sends what waits. Call this after each addition to the outbox. */
  pump(): void;
}

/** @param progress called after every acknowledgement */
export function createSender(
  outbox: Outbox,
  clock: Clock,
  broker: () => string,
  progress: () => void,
): Sender {
  let link: Link | null = null;
  let cancelOverdue: (() => void) | null = null;
  let refusal: { topic: string; at: number } | null = null;
  const fleeting = createFleetingSuspects();
  let otherSeenAt = Number.NEGATIVE_INFINITY;

  /** Starts again with each acknowledgement. */
  const watch = (): void => {
    cancelOverdue?.();
    cancelOverdue = null;
    if (link === null || outbox.inFlight() === 0) return;
    cancelOverdue = clock.at(clock.now() + ACKNOWLEDGE_WITHIN_MS, () => {
      link?.destroy(`${broker()} acknowledges nothing`);
    });
  };

  const send = (over: Link, message: OutboxMessage): void => {
    const expiryS = expiryLeftS(message, clock.now());
    const properties = { ...message.properties, ...(expiryS !== undefined && { expiryS }) };
    over.publish({ ...message, qos: 1, properties }, (refused) => {
      if (refused === null) outbox.settle(message);
      else {
        refusal = { topic: message.topic, at: clock.now() };
        outbox.dropNow(message, 'refused', refused);
      }
      watch();
      pump();
      progress();
    });
    if (cancelOverdue === null) watch();
  };

  const take = (window: number): OutboxMessage | null => {
    const flying = outbox.inFlight();
    if (outbox.isSuspicious(clock.now())) return flying === 0 ? outbox.take(clock.now()) : null;
    const shared = window > WIDE_ENOUGH ? window - RESERVED : window;
    if (flying < shared) return outbox.take(clock.now());
    return flying < window ? outbox.take(clock.now(), ['tokens']) : null;
  };

  const pump = (): void => {
    while (link !== null) {
      const message = take(link.window);
      if (message === null) return;
      const packetBytes = message.bytes + PACKET_OVERHEAD_BYTES;
      if (packetBytes <= link.largestPacketBytes) send(link, message);
      else outbox.dropNow(message, 'too_large', 'the broker accepts no message of this size');
    }
  };

  /** The message that caused the link's end, if any: one refused just before, or the only one in flight. */
  const blame = (
    { silent, reset, aboutMessage }: Ending,
    isMistakable: boolean,
  ): { topic: string; isFleeting: boolean } | null => {
    const now = clock.now();
    const last = refusal;
    refusal = null;
    const isWordless = silent === true || (isMistakable && reset === true);
    const isOther = now - otherSeenAt < UNDISPUTED_AFTER_MS;
    if (aboutMessage !== true && (isOther || !isWordless)) return null;
    if (last !== null && now - last.at <= REFUSAL_LASTS_MS) return { topic: last.topic, isFleeting: false };
    const isLikely = aboutMessage === true || isMistakable;
    const isFleeting = outbox.inFlight() === 0;
    const topic = isFleeting
      ? fleeting.suspect(now, (one) => isLikely || outbox.isDoubtful(one, now))
      : outbox.suspect(now, isLikely);
    return topic === null ? null : { topic, isFleeting };
  };

  return {
    attach(opened) {
      link = opened;
      pump();
    },
    detach(ending, isMistakable = false) {
      link = null;
      const cause = ending === undefined ? null : blame(ending, isMistakable);
      outbox.unsend(ending?.problem !== 'taken_over', cause?.topic);
      if (cause !== null) {
        outbox.block(cause.topic, clock.now());
        if (cause.isFleeting) outbox.reportRefused(cause.topic);
      }
      watch();
      return cause?.topic ?? null;
    },
    fleeting(over, message) {
      const now = clock.now();
      // An outbox that sends one message at a time relies on it being alone.
      if (over.congested || outbox.isSuspicious(now) || outbox.isBlocked(message.topic, now)) return;
      fleeting.sent(message.topic, now);
      over.publish({ ...message, qos: 0 }, () => {});
    },
    otherSeen() {
      otherSeenAt = clock.now();
    },
    pump,
  };
}
