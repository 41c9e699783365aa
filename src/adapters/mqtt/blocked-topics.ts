/**
 * How long a topic stays blocked (milliseconds): afterwards the broker's rules may have changed. Shorter than the wait before the
 * device publishes a refused value again.
 */
const BLOCK_MS = 240_000;
/** How long a token topic stays blocked (milliseconds): a visitor may be waiting. */
const URGENT_BLOCK_MS = 15_000;
const MOST_TOPICS = 100;

/** Topics that the broker has refused. Times are monotonic milliseconds. */
export function createBlockedTopics() {
  const until = new Map<string, number>();
  const has = (topic: string, now: number): boolean => now < (until.get(topic) ?? Number.NEGATIVE_INFINITY);
  return {
    /** Only the first refusal counts: a later one, for a message that was already in flight, does not extend the block. */
    add(topic: string, now: number, isUrgent: boolean): void {
      if (has(topic, now)) return;
      if (until.size >= MOST_TOPICS) until.clear();
      until.set(topic, now + (isUrgent ? URGENT_BLOCK_MS : BLOCK_MS));
    },
    /** Whether the topic is blocked: its messages are then dropped without being sent. */
    has,
  };
}
