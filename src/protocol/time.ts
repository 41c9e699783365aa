/** Two kinds of milliseconds, which the compiler keeps apart: one clock never stands in for the other. */
declare const clockOf: unique symbol;

/** By the monotonic clock: only differences mean anything. A moment with a duration added is one, too. */
export type MonotonicMs = number & { readonly [clockOf]?: 'monotonic' };

/** Since 1970, by the wall clock. Nothing else is one until `asWall` says so. */
export type WallMs = number & { readonly [clockOf]: 'wall' };

/** Says that a number is a moment by the wall clock: one that was read from a text, or worked out from another. */
export function asWall(ms: number): WallMs {
  return ms as WallMs;
}
