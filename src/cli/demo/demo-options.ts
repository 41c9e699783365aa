import type { DemoFault } from './faults.ts';

/** What was asked for on the command line. */
export interface DemoCommandOptions {
  readonly seconds?: number;
  readonly input?: string;
  readonly output: string;
  readonly fault: readonly DemoFault[];
  readonly realMic?: true;
  readonly json?: true;
}
