export const MB = 1_000_000;

/** A size in a sentence. */
export function size(bytes: number): string {
  return bytes >= 1000 * MB ? `${(bytes / (1000 * MB)).toFixed(1)} GB` : `${Math.floor(bytes / MB)} MB`;
}
