import type { Clock } from '../ports/clock.ts';

/** Wait before a refused message is published again (ms): the broker's rules may have changed. */
const REFUSED_AGAIN_MS = 300_000;

/** Publishes a message again some time after the broker has refused it. */
export interface Republish {
  /** Called when a message was delivered or dropped. @param publish publishes the present value */
  ended(topic: string, isDelivered: boolean, publish: () => void): void;
  forget(): void;
}

export function createRepublish(clock: Clock): Republish {
  /** Functions that cancel the next try, by topic. */
  const waiting = new Map<string, () => void>();
  return {
    ended(topic, isDelivered, publish) {
      if (isDelivered) {
        waiting.get(topic)?.();
        waiting.delete(topic);
        return;
      }
      // The first refusal sets the time of the retry: later changes of the value must not delay it.
      if (waiting.has(topic)) return;
      const again = (): void => {
        waiting.delete(topic);
        publish();
      };
      waiting.set(topic, clock.at(clock.now() + REFUSED_AGAIN_MS, again));
    },
    forget() {
      for (const cancel of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
