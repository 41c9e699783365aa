/** Counts of a run. */
export interface Tallies {
  rollovers: number;
  /** Rollovers that cut a sentence in two. */
  splits: number;
  sessions: number;
  standbys: number;
  revocations: number;
  connections: number;
  tokenRequests: number;
  steps: number;
  /** Time with two streams open. */
  overlapMs: number;
  longestOverlapMs: number;
  overlaps: number;
}
