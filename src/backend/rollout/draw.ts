/** The order in which a roll-out selects devices: the same at any time and in each backend. */

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** @param rollout id of the roll-out: each one begins with different devices */
export function rankOf(rollout: string, device: string): number {
  let hash = FNV_OFFSET;
  for (const character of `${rollout}/${device}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME);
  }
  // Without this mixing, names that differ only in the last digit would get similar ranks.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Number of devices in a wave: at least one, if there are any. */
export function sizeOf(percent: number, devices: number): number {
  // Allows for rounding errors: 7 % of 100 are 7.000000000000001.
  return Math.min(devices, Math.ceil((percent * devices) / 100 - 1e-9));
}

/**
 * The next devices. Connected ones come first: a wave of disconnected devices shows nothing.
 * @param candidates `isAway`: not connected
 */
export function drawNext(
  rollout: string,
  candidates: readonly { readonly name: string; readonly isAway: boolean }[],
  most: number,
): string[] {
  if (most <= 0) return [];
  return candidates
    .map(({ name, isAway }) => ({ name, isAway, rank: rankOf(rollout, name) }))
    .sort(
      (one, other) =>
        Number(one.isAway) - Number(other.isAway) ||
        one.rank - other.rank ||
        (one.name < other.name ? -1 : 1),
    )
    .slice(0, most)
    .map(({ name }) => name);
}
