/** This many at once, and this many in the long run. */
export interface Rate {
  readonly burst: number;
  readonly perMinute: number;
}

/** A bucket of tokens that fills up again with time. */
export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export function fullBucket(rate: Rate, now: number): Bucket {
  return { tokens: rate.burst, at: now };
}

/** Takes one token. `waitMs` is 0 when there was one; else how long until there is. */
export function spend(bucket: Bucket, rate: Rate, now: number): { bucket: Bucket; waitMs: number } {
  const msPerToken = 60_000 / rate.perMinute;
  const tokens = Math.min(rate.burst, bucket.tokens + (now - bucket.at) / msPerToken);
  if (tokens < 1) return { bucket: { tokens, at: now }, waitMs: Math.ceil((1 - tokens) * msPerToken) };
  return { bucket: { tokens: tokens - 1, at: now }, waitMs: 0 };
}
