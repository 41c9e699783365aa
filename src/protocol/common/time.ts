/** Two kinds of milliseconds as separate types, so that the compiler rejects a mix of the clocks. */
declare const clockOf: unique symbol;

/** A moment on the monotonic clock, or such a moment plus a duration. Only differences have a meaning. */
export type MonotonicMs = number & { readonly [clockOf]?: 'monotonic' };

/** A moment on the wall clock, since 1970. Only `asWall` makes one from a number. */
export type WallMs = number & { readonly [clockOf]: 'wall' };

/** Declares that a number is a moment on the wall clock: read from a text, or calculated from another moment. */
export function asWall(ms: number): WallMs {
  return ms as WallMs;
}
