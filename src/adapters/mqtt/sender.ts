import { URGENT } from '../../core/retry/reconnect.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ending } from './end-reasons.ts';
import type { Link, Outgoing } from './link.ts';
import { expiryLeftS, type Outbox, type OutboxMessage } from './outbox.ts';

/** Longest time without an acknowledgement (milliseconds): a broker that only answers pings counts as broken. */
const ACKNOWLEDGE_WITHIN_MS = 30_000;
/** Bytes of fixed header, topic length, packet identifier and properties: a generous bound. */
const PACKET_OVERHEAD_BYTES = 256;
/** Slots of the broker's window that are kept for token requests. */
const RESERVED = 1;
/** A window of at most this many slots keeps none for token requests. */
const WIDE_ENOUGH = 4;

/** Sends messages from the outbox over the present link, within the broker's receive window. */
export interface Sender {
  /** From now on messages go over `link`. */
  attach(link: Link): void;
  /**
   * The link is gone or useless: unacknowledged messages wait again.
   * @param ending how the link ended, if it did
   */
  detach(ending?: Ending): void;
  /** Sends a fleeting message (QoS 0) now, or drops it. */
  fleeting(over: Link, message: Omit<Outgoing, 'qos'>): void;
  /** The urgency has changed, and with it the timeout for an acknowledgement. */
  rush(): void;
  /** Sends what waits. Call this after each addition to the outbox. */
  pump(): void;
}

/**
 * @param isUrgent whether a caller waits for the acknowledgement
 * @param progress called after every acknowledgement
 */
export function createSender(
  outbox: Outbox,
  clock: Clock,
  isUrgent: () => boolean,
  progress: () => void,
): Sender {
  let link: Link | null = null;
  let cancelOverdue: (() => void) | null = null;

  /** Sets the timeout for the next acknowledgement; each acknowledgement sets it again. */
  const watch = (): void => {
    cancelOverdue?.();
    cancelOverdue = null;
    if (link === null || outbox.inFlight() === 0) return;
    const withinMs = isUrgent() ? URGENT.tryMs : ACKNOWLEDGE_WITHIN_MS;
    cancelOverdue = clock.at(clock.now() + withinMs, () => {
      link?.destroy(`${link.broker} acknowledges nothing`);
    });
  };

  const send = (over: Link, message: OutboxMessage): void => {
    const expiryS = expiryLeftS(message, clock.now());
    const properties = { ...message.properties, ...(expiryS !== undefined && { expiryS }) };
    over.publish({ ...message, qos: 1, properties }, (refusal) => {
      if (refusal === null) outbox.settle(message);
      // A refusal over an earlier link is ignored: the message is sent again over the present one.
      else if (over === link) {
        outbox.dropNow(message, 'refused', refusal.reason);
        // Some brokers also hang up each time.
        if (refusal.isForbidden) outbox.block(message, clock.now());
      }
      watch();
      pump();
      progress();
    });
    if (cancelOverdue === null) watch();
  };

  const take = (window: number): OutboxMessage | null => {
    const flying = outbox.inFlight();
    if (outbox.isSuspicious()) return flying === 0 ? outbox.take(clock.now()) : null;
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

  return {
    attach(opened) {
      link = opened;
      pump();
    },
    detach(ending) {
      link = null;
      // A connection that we end ourselves, or lose to another client, says nothing about its messages.
      outbox.unsend(ending !== undefined && ending.problem !== 'taken_over');
      watch();
    },
    fleeting(over, message) {
      if (over.congested || outbox.isBlocked(message.topic, clock.now())) return;
      over.publish({ ...message, qos: 0 }, () => {});
    },
    rush: watch,
    pump,
  };
}
