/** Decides which connection of an HTTP server makes room for a new one, and which reader is too slow. */

export interface CrowdLimits {
  /** Maximum connections in total. */
  readonly most: number;
  /** Maximum connections from one address. */
  readonly mostOfAddress: number;
}

export interface Caller {
  /** Null: many people share the address, as behind a proxy. */
  readonly address: string | null;
  /** Order of arrival. */
  readonly number: number;
  /** `asking`: its request is not complete. `answered`: its answer is being sent. `known`: the person is signed in. */
  readonly stage: 'asking' | 'answered' | 'known';
}

const RANK = { asking: 0, answered: 1, known: 2 } as const;

/**
 * The caller that makes room for a new one; null: there is room. A new caller is never refused, because it may be signed in.
 * Callers that only hold a connection leave first, from the address with the most connections, oldest first.
 * @param callers without the new one
 */
export function crowdedOut<T extends Caller>(
  callers: readonly T[],
  address: string | null,
  { most, mostOfAddress }: CrowdLimits,
): T | null {
  const counts = new Map<string | null, number>();
  for (const { address: one } of callers) counts.set(one, (counts.get(one) ?? 0) + 1);
  const countOf = (one: T): number => (one.address === null ? 1 : (counts.get(one.address) ?? 0));
  const own = address === null ? 0 : (counts.get(address) ?? 0);
  const leaving =
    own >= mostOfAddress
      ? callers.filter((one) => one.address === address)
      : callers.length >= most
        ? callers
        : [];
  return leaving.reduce<T | null>((first, one) => {
    if (first === null) return one;
    const order =
      RANK[one.stage] - RANK[first.stage] || countOf(first) - countOf(one) || one.number - first.number;
    return order < 0 ? one : first;
  }, null);
}

/** A reader is too slow if it takes fewer bytes than this within `SLOW_AFTER_MS`, although more bytes wait for it. */
export const LEAST_BYTES = 16_384;
export const SLOW_AFTER_MS = 30_000;

/** Time and bytes read when the reader last kept up. */
export interface Reading {
  readonly since: number;
  readonly taken: number;
}

/** @returns null if the reader is too slow */
export function keepsUp(
  before: Reading,
  now: number,
  { taken, waiting }: { readonly taken: number; readonly waiting: number },
): Reading | null {
  if (waiting === 0 || taken - before.taken >= LEAST_BYTES) return { since: now, taken };
  return now - before.since >= SLOW_AFTER_MS ? null : before;
}
