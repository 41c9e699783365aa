/** What was asked for on the command line. */
export interface DevicesOptions {
  readonly config?: string;
  readonly json?: true;
  /** True where no device was named. */
  readonly meter?: string | true;
  readonly seconds?: number;
}
