/** How far the sound of one lane has come, at one moment. */
export interface LaneProgress {
  readonly lane: string;
  /** Counts what became of its microphone: opened, closed, failed, heard again. */
  readonly changes: number;
  /** The microphone is open, and has not told of a fault. */
  readonly listens: boolean;
  /** Chunks of sound that the lane has taken a step for. */
  readonly chunks: number;
}

/**
 * The lanes that stand still: their microphone was there the whole time between two looks, and not one chunk of its sound has
 * come through. A missing or failed device is no lack of progress: nothing is to be had from it, and it is told elsewhere.
 */
export function stuckLanes(before: readonly LaneProgress[], after: readonly LaneProgress[]): string[] {
  return after
    .filter((now) => {
      const then = before.find(({ lane }) => lane === now.lane);
      return then?.listens && now.listens && then.changes === now.changes && then.chunks === now.chunks;
    })
    .map(({ lane }) => lane);
}
