import type { Clock } from '../../ports/clock.ts';

/** What the broker has refused is published again after this long: somebody may have allowed it, or nothing has changed since. */
const REFUSED_AGAIN_MS = 300_000;

/** Says again in a while what the broker has not taken. */
export interface SaidAgain {
  /** What has become of a message. @param publish how it is said again */
  ended(topic: string, isDelivered: boolean, publish: () => void): void;
  forget(): void;
}

export function createSaidAgain(clock: Clock): SaidAgain {
  /** By topic: how the next time is called off. */
  const waiting = new Map<string, () => void>();
  return {
    ended(topic, isDelivered, publish) {
      if (isDelivered) {
        waiting.get(topic)?.();
        waiting.delete(topic);
        return;
      }
      // The first counts: what changes again and again meanwhile, and is refused, must not put it off.
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
