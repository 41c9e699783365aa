import { draw, type Seed } from '../random.ts';

/** Waits between tries. Each wait is drawn evenly from 0 to a bound ("full jitter"), so that a fleet spreads out. */
export interface BackoffPolicy {
  /** Bound of the first wait. */
  readonly baseMs: number;
  /** The bound doubles with each failure up to this value. */
  readonly capMs: number;
  /** Shortest wait. */
  readonly floorMs: number;
}

/** The bound of the wait after `failures` failures in a row (1 = the first). */
export function backoffBound(policy: BackoffPolicy, failures: number): number {
  const doublings = Math.min(Math.max(failures - 1, 0), 30);
  return Math.min(policy.capMs, policy.baseMs * 2 ** doublings);
}

/** Minimum spread over a wait that the other side requested (ms): enough to keep a fleet apart. */
const LEAST_SPREAD_MS = 1000;

/**
 * The wait after `failures` failures in a row (1 = the first).
 * @param askedMs wait that the other side asked for (`Retry-After`). The result is never shorter, and longer by at
 *   most half of it (or 1 s, if that is more), because the other side knows better than our growing bound
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

/** Draws a wait up to a given bound, which is limited by the policy's base and cap. */
export function drawWithin(
  policy: BackoffPolicy,
  boundMs: number,
  seed: Seed,
): { waitMs: number; seed: Seed } {
  const drawn = draw(seed);
  const bound = Math.min(policy.capMs, Math.max(policy.baseMs, boundMs));
  return { waitMs: Math.round(policy.floorMs + drawn.value * (bound - policy.floorMs)), seed: drawn.seed };
}
