import type { Choices } from './choices.ts';

/** Period (ms) over which connections with one token are counted. */
const MINUTE_MS = 60_000;
/** Number of tokens that are remembered. */
const MOST_TOKENS = 1000;

/** Counts the connections of each token. */
export interface ConnectionCount {
  /** Counts a connection; true if the token exceeds its limit per minute. */
  isTooMany(secret: string, now: number): boolean;
}

export function createConnectionCount(choices: Choices): ConnectionCount {
  const connections = new Map<string, number[]>();
  return {
    isTooMany(secret, now) {
      if (choices.connectionsPerMinute === 0) return false;
      const recent = (connections.get(secret) ?? []).filter((at) => at > now - MINUTE_MS);
      recent.push(now);
      connections.delete(secret);
      connections.set(secret, recent);
      for (const key of connections.keys()) {
        if (connections.size <= MOST_TOKENS) break;
        connections.delete(key);
      }
      return recent.length > choices.connectionsPerMinute;
    },
  };
}
