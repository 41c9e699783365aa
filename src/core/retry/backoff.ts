import { draw, type Seed } from '../random.ts';

/** How long to wait between tries. Each wait is drawn evenly from 0 to the bound ("full jitter"), so that a fleet spreads out. */
export interface BackoffPolicy {
  /** Bound of the first wait. */
  readonly baseMs: number;
  /** The bound doubles with each failure up to here. */
  readonly capMs: number;
  /** No wait is shorter than this. */
  readonly floorMs: number;
}

/** The bound of the wait after `failures` failures in a row (1 = the first). */
export function backoffBound(policy: BackoffPolicy, failures: number): number {
  const doublings = Math.min(Math.max(failures - 1, 0), 30);
  return Math.min(policy.capMs, policy.baseMs * 2 ** doublings);
}

/** Spread over what the other side asked for: enough to keep a fleet apart. */
const LEAST_SPREAD_MS = 1000;

/**
 * The wait after `failures` failures in a row (1 = the first).
 * @param askedMs what the other side asked for (`Retry-After`): never shorter, and at most half as long again,
 *   because it knows better than our own growing bound
 */
export function drawBackoff(
  policy: BackoffPolicy,
  failures: number,
  seed: Seed,
  askedMs = 0,
): { waitMs: number; seed: Seed } {
  const drawn = draw(seed);
  const floor = Math.max(policy.floorMs, askedMs);
  const bound = Math.max(0, backoffBound(policy, failures) - policy.floorMs);
  const span = askedMs > 0 ? Math.min(bound, Math.max(floor / 2, LEAST_SPREAD_MS)) : bound;
  return { waitMs: Math.round(floor + drawn.value * span), seed: drawn.seed };
}

/** A wait up to a bound of one's own, kept within the policy's base and cap. */
export function drawWithin(
  policy: BackoffPolicy,
  boundMs: number,
  seed: Seed,
): { waitMs: number; seed: Seed } {
  const drawn = draw(seed);
  const bound = Math.min(policy.capMs, Math.max(policy.baseMs, boundMs));
  return { waitMs: Math.round(policy.floorMs + drawn.value * (bound - policy.floorMs)), seed: drawn.seed };
}
