import type { Clock } from '../ports/clock.ts';

/** Wait for the first retained message after the subscriptions are in place (ms). */
export const RETAINED_WITHIN_MS = 5000;
/** Time over which the devices of a fleet spread their answers (s). */
export const ASK_SPREAD_S = 30;

/**
 * Shortest time between two questions (ms). A broker that does not allow the question may close the connection. The status of devices
 * that reconnect meanwhile comes by itself.
 */
export const ASK_AGAIN_MS = 600_000;

/** Asks the devices for what the broker does not send. */
export interface StatusAsker {
  /** A connection is up, with its subscriptions. */
  up(): void;
  /** The broker has sent a retained message: it needs no help. */
  heardRetained(): void;
  /** The connection is down, or is closed. */
  down(): void;
}

/**
 * Some brokers (RabbitMQ) send no retained messages to a filter with wildcards: then every device is unknown until it changes.
 * @param ask called once at most for each connection on which no retained message has come in time
 */
export function createStatusAsker(clock: Clock, ask: () => void): StatusAsker {
  let cancel = (): void => {};
  let askedAt = Number.NEGATIVE_INFINITY;
  return {
    up() {
      cancel();
      const dueAt = Math.max(clock.now() + RETAINED_WITHIN_MS, askedAt + ASK_AGAIN_MS);
      cancel = clock.at(dueAt, () => {
        askedAt = clock.now();
        ask();
      });
    },
    heardRetained: () => cancel(),
    down: () => cancel(),
  };
}
