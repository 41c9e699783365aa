/** When the loudspeaker is heard: one stretch of time, monotonic milliseconds. */
export interface Heard {
  readonly from: number;
  readonly until: number;
}
