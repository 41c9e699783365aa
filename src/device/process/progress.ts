/** Progress of a lane's sound at one moment. */
export interface LaneProgress {
  readonly lane: string;
  /** Counter of microphone changes: opened, closed, failed, recovered. */
  readonly changes: number;
  /** The microphone is open and has reported no fault. */
  readonly listens: boolean;
  /** Number of chunks that the lane has processed. */
  readonly chunks: number;
}

/**
 * Finds stalled lanes: between two checks their microphone worked the whole time, but no chunk was processed. A missing or
 * failed device does not count: it delivers nothing, and it is reported elsewhere.
 */
export function stuckLanes(before: readonly LaneProgress[], after: readonly LaneProgress[]): string[] {
  return after
    .filter((now) => {
      const then = before.find(({ lane }) => lane === now.lane);
      return then?.listens && now.listens && then.changes === now.changes && then.chunks === now.chunks;
    })
    .map(({ lane }) => lane);
}
