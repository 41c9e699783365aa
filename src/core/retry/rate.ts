/** A rate limit: `burst` at once, and `perMinute` in the long run. */
export interface Rate {
  readonly burst: number;
  readonly perMinute: number;
}

/** A token bucket that refills with time. */
export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export function fullBucket(rate: Rate, now: number): Bucket {
  return { tokens: rate.burst, at: now };
}

/** Takes tokens. `waitMs` is 0 on success, otherwise the time until enough tokens are available. */
export function spend(
  bucket: Bucket,
  rate: Rate,
  now: number,
  wanted = 1,
): { bucket: Bucket; waitMs: number } {
  const msPerToken = 60_000 / rate.perMinute;
  const tokens = Math.min(rate.burst, bucket.tokens + (now - bucket.at) / msPerToken);
  if (tokens < wanted)
    return { bucket: { tokens, at: now }, waitMs: Math.ceil((wanted - tokens) * msPerToken) };
  return { bucket: { tokens: tokens - wanted, at: now }, waitMs: 0 };
}
