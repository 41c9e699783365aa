import type { CheckName } from '../../protocol/mqtt/diagnose.ts';

/** What was asked for on the command line. */
export interface DoctorOptions {
  readonly config: string;
  readonly json?: true;
  readonly only: readonly CheckName[];
  /** False with `--no-sound`. */
  readonly sound: boolean;
}
