/** What can go wrong where a test, or `--fault`, names it: no seed draws it. */
import type { Fault } from './fault-targets.ts';

export const NAMED_FAULTS: Readonly<Record<string, Fault>> = {
  /** Of the next sentence no more than interim texts come, and the stream goes on. */
  sentence_left_out: ({ host }) => void host.output.leaveOutNext(),
  /** It answers pings and tells its task when it is asked, reads all and says nothing more. */
  zombie_answering: ({ host }) => void host.turnZombies(true),
};
