/** Heap use over a simulated day. */
export interface DayReport {
  readonly hours: number;
  /** Real duration of the simulation. */
  readonly seconds: number;
  readonly chunks: number;
  readonly sentences: number;
  readonly sessions: number;
  readonly commands: number;
  /** Live heap at the end of each hour, MB. */
  readonly points: readonly (readonly [hour: number, mb: number])[];
  readonly mbPerDay: number;
  readonly detector: string;
}
