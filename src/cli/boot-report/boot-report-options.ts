/** What was asked for on the command line. */
export interface BootReportOptions {
  readonly config: string;
  readonly result: string;
  readonly boot?: string;
  readonly phrases: string;
  /** Seconds. */
  readonly grace: number;
  /** Seconds. */
  readonly longest: number;
}
