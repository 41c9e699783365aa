import { fullBucket, type Rate, spend } from '../core/retry/rate.ts';
import type { Clock } from '../ports/clock.ts';

/** Maximum number of devices that are counted. At the limit all counts are reset: without logins anyone can invent names. */
const MOST_DEVICES = 20_000;

/** @returns whether a device has exceeded the rate; each call counts */
export function limitDevices(clock: Clock, rate: Rate): (device: string) => boolean {
  const buckets = new Map<string, ReturnType<typeof fullBucket>>();
  return (device) => {
    if (!buckets.has(device) && buckets.size >= MOST_DEVICES) buckets.clear();
    const now = clock.now();
    const spent = spend(buckets.get(device) ?? fullBucket(rate, now), rate, now);
    buckets.set(device, spent.bucket);
    return spent.waitMs > 0;
  };
}
