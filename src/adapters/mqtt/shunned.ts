/** The status and the state are said again after as long as this, so that they are there soon after somebody has allowed them. */
const SHUN_MS = 300_000;
/** So long after that, the first connection that ends on the topic is enough: each try costs a connection. */
const DOUBT_MS = 600_000;
const MOST_TOPICS = 100;

/** Topics that made the broker hang up. Times are monotonic milliseconds. */
export function createShunned() {
  const since = new Map<string, number>();
  const ageOf = (topic: string, now: number): number => now - (since.get(topic) ?? Number.NEGATIVE_INFINITY);
  return {
    add(topic: string, now: number): void {
      if (since.size >= MOST_TOPICS) since.clear();
      since.set(topic, now);
    },
    /** What is published to it is given up without asking the broker. */
    has: (topic: string, now: number): boolean => ageOf(topic, now) < SHUN_MS,
    /** It may be tried again, and nobody knows yet what the broker will do. */
    isDoubtful(topic: string, now: number): boolean {
      const age = ageOf(topic, now);
      return age >= SHUN_MS && age < SHUN_MS + DOUBT_MS;
    },
    /** The broker has taken it. */
    forgive: (topic: string): void => void since.delete(topic),
  };
}

/** A broker that does not like a fleeting message (QoS 0) hangs up within this time; it acknowledges none. */
const HANGS_UP_WITHIN_MS = 3000;

/** Which fleeting message may have ended the connection. */
export function createFleetingSuspects() {
  let last: { topic: string; at: number } | null = null;
  let before: string | null = null;
  return {
    sent(topic: string, at: number): void {
      last = { topic, at };
    },
    /**
     * A connection has ended with nothing else under way.
     * @param isEnough whether once is enough to blame it; else it takes two connections in a row
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
