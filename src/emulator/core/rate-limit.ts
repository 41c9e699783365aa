/** Tolerance (ms) for early commands, because clients' timers and the network are not exact. */
const TOLERANCE_MS = 60;

/** Remembers when each kind of event happened. Keys must come from a small set. */
export interface RateLimits {
  /** Whether `spacingMs` have passed since the last allowed event; if so, records this one. */
  allow(key: string, spacingMs: number, now: number): boolean;
  /** Whether fewer than `most` events were allowed in the last `windowMs`; if so, records this one. */
  allowIn(key: string, most: number, windowMs: number, now: number): boolean;
}

export function createRateLimits(): RateLimits {
  const last = new Map<string, number>();
  const windows = new Map<string, number[]>();
  return {
    allow(key, spacingMs, now) {
      const before = last.get(key);
      if (before !== undefined && now - before < spacingMs - TOLERANCE_MS) return false;
      last.set(key, now);
      return true;
    },
    allowIn(key, most, windowMs, now) {
      const recent = (windows.get(key) ?? []).filter((at) => at > now - windowMs);
      windows.set(key, recent);
      if (recent.length >= most) return false;
      recent.push(now);
      return true;
    },
  };
}
