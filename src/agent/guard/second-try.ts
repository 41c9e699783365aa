import type { Bus, PublishOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { attempt, type Defects } from './defects.ts';

/** A message that the connection threw at is tried again after this long, with those behind it. */
const AGAIN_MS = 1000;
/** What is thrown so often is about the message itself: those behind it go on without it. */
const MOST_TRIES = 5;
const MOST_WAITING = 100;

interface OutboxMessage {
  readonly topic: string;
  readonly payload: string;
  readonly options: PublishOptions;
  readonly tries: number;
}

/** Publishes on a connection that may throw, or not be there yet: what the owner must hear (QoS 1) is tried again, in its order. */
export interface SecondTry {
  publish(topic: string, payload: string, options: PublishOptions): void;
  readonly depth: number;
  readonly dropped: number;
  /** The last try for all that waits. */
  close(): void;
}

export function createSecondTry(busNow: () => Bus | null, clock: Clock, defects: Defects): SecondTry {
  let waiting: OutboxMessage[] = [];
  let dropped = 0;
  let cancel = (): void => {};

  const send = ({ topic, payload, options }: OutboxMessage): boolean =>
    attempt(defects, 'bus.publish', () => busNow()?.publish(topic, payload, options));
  const keep = (letter: OutboxMessage): void => {
    waiting.push(letter);
    if (waiting.length > MOST_WAITING) {
      const lost = waiting.shift();
      dropped += 1;
      lost?.options.ended?.(false);
    }
  };
  const again = (): void => {
    cancel = (): void => {};
    if (waiting.length > 0 && busNow() === null) {
      cancel = clock.at(clock.now() + AGAIN_MS, again);
      return;
    }
    while (waiting[0] !== undefined) {
      const [head, ...rest] = waiting;
      waiting = rest;
      if (send(head)) continue;
      if (head.tries + 1 < MOST_TRIES) waiting.unshift({ ...head, tries: head.tries + 1 });
      else {
        dropped += 1;
        head.options.ended?.(false);
      }
      // Telling of it may have begun a wait of its own.
      cancel();
      cancel = clock.at(clock.now() + AGAIN_MS, again);
      return;
    }
  };

  return {
    get depth() {
      return waiting.length;
    },
    get dropped() {
      return dropped;
    },
    publish(topic, payload, options) {
      const letter = { topic, payload, options, tries: 1 };
      const isKept = options.qos === 1;
      if (isKept && waiting.length > 0) {
        // A newer word on a retained topic makes the older one needless, here as in the connection's own queue.
        if (options.retain === true) waiting = waiting.filter((one) => one.topic !== topic);
        if (waiting.length > 0) return keep(letter);
      }
      // Where the connection could not even be begun it waits for that.
      if ((busNow() !== null && send(letter)) || !isKept) return;
      keep(letter);
      cancel();
      cancel = clock.at(clock.now() + AGAIN_MS, again);
    },
    close() {
      cancel();
      for (const letter of waiting.splice(0)) send(letter);
    },
  };
}
