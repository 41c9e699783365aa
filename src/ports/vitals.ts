/** What the machine tells of the program; null where it does not. */
export interface Vitals {
  /** Of the program and all that it has started. */
  readonly rssBytes: number | null;
  /** Of the program alone, since its start. */
  readonly cpuSeconds: number | null;
  /** How late the event loop came to what was due, milliseconds. */
  readonly loopLagMs: { readonly p50: number; readonly p99: number } | null;
  readonly temperatureC: number | null;
}

/** Never throws. */
export type ReadVitals = () => Vitals;
