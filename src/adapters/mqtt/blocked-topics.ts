/** How long a topic stays blocked (milliseconds): status and state come again soon after the broker's rules are fixed. */
const BLOCK_MS = 300_000;
/** For this long afterwards (milliseconds), a single disconnect blocks the topic again: each attempt costs a connection. */
const DOUBT_MS = 600_000;
const MOST_TOPICS = 100;

/** Topics on which the broker hung up. Times are monotonic milliseconds. */
export function createBlockedTopics() {
  const since = new Map<string, number>();
  const ageOf = (topic: string, now: number): number => now - (since.get(topic) ?? Number.NEGATIVE_INFINITY);
  return {
    add(topic: string, now: number): void {
      if (since.size >= MOST_TOPICS) since.clear();
      since.set(topic, now);
    },
    /** The topic is blocked: its messages are dropped without being sent. */
    has: (topic: string, now: number): boolean => ageOf(topic, now) < BLOCK_MS,
    /** The topic may be tried again, but may still make the broker hang up. */
    isDoubtful(topic: string, now: number): boolean {
      const age = ageOf(topic, now);
      return age >= BLOCK_MS && age < BLOCK_MS + DOUBT_MS;
    },
    /** The broker has accepted a message on it. */
    unblock: (topic: string): void => void since.delete(topic),
  };
}

/** A broker hangs up on an unwanted fleeting message (QoS 0) within this time (milliseconds); it acknowledges none. */
const HANGS_UP_WITHIN_MS = 3000;

/** Finds the fleeting message that may have ended the connection. */
export function createFleetingSuspects() {
  let last: { topic: string; at: number } | null = null;
  let before: string | null = null;
  return {
    sent(topic: string, at: number): void {
      last = { topic, at };
    },
    /**
     * A connection has ended with nothing else in flight.
     * @param isEnough whether one connection is enough to blame the topic; otherwise it takes two in a row
     */
    suspect(now: number, isEnough: (topic: string) => boolean): string | null {
      const topic = last !== null && now - last.at <= HANGS_UP_WITHIN_MS ? last.topic : null;
      const isBlamed = topic !== null && (topic === before || isEnough(topic));
      last = null;
      before = topic;
      return isBlamed ? topic : null;
    },
  };
}
