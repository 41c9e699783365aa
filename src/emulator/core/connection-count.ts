import type { Choices } from './choices.ts';

/** Connections with one token are counted over a minute. */
const MINUTE_MS = 60_000;
/** Tokens that are remembered. */
const MOST_TOKENS = 1000;

/** Counts how often each token is presented. */
export interface ConnectionCount {
  /** Counts a connection; whether there are more in a minute than one token may have. */
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
