/** Resource use of the program, and the machine's temperature; null when unknown. */
export interface Vitals {
  /** Memory of the program and all its child processes. */
  readonly rssBytes: number | null;
  /** CPU time of the program alone, since its start. */
  readonly cpuSeconds: number | null;
  /** Delay of the event loop's timers, milliseconds. */
  readonly loopLagMs: { readonly p50: number; readonly p99: number } | null;
  readonly temperatureC: number | null;
}

/** Never throws. */
export type ReadVitals = () => Vitals;
