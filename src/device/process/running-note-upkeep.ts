import type { NoteFile } from '../../adapters/running-note.ts';
import { within } from '../../machine/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Config } from '../../protocol/config.ts';
import { fingerprints } from '../config/fingerprints.ts';
import type { Publisher } from '../status/publisher.ts';
import type { Observed } from './observed-deps.ts';

/** Interval of updates (ms): a person starts the doctor seconds after a change. */
const LOOK_EVERY_MS = 5000;

/** Time to remove the note at the end (ms): a dead disk must not keep the program from ending. */
const REMOVE_WITHIN_MS = 1000;

export interface RunningNoteParts {
  readonly agent: { readonly publisher: Pick<Publisher, 'status'>; readonly configuration: Config };
  readonly observed: Pick<Observed, 'broker'>;
  readonly version: string;
  readonly clock: Clock;
  readonly file: NoteFile;
}

/** Keeps the note up to date. */
export interface RunningNoteUpkeep {
  /** Updates the note at once, as after a reload. */
  look(): void;
  end(): Promise<void>;
}

export function keepRunningNote({
  agent,
  observed,
  version,
  clock,
  file,
}: RunningNoteParts): RunningNoteUpkeep {
  let cancel = (): void => {};
  let connectedSince: number | null = null;
  let isEnded = false;
  const look = (): void => {
    cancel();
    // A reload may come during the shutdown.
    if (isEnded) return;
    const { status, reasons } = agent.publisher.status();
    const config = fingerprints(agent.configuration);
    const { broker } = observed;
    connectedSince = broker === true ? (connectedSince ?? clock.wall()) : null;
    file.write({ version, status, reasons, broker, connectedSince, problem: null, config });
    cancel = clock.at(clock.now() + LOOK_EVERY_MS, look, LOOK_EVERY_MS / 5);
  };
  look();
  return {
    look,
    async end() {
      isEnded = true;
      cancel();
      await within(clock, REMOVE_WITHIN_MS, file.remove());
    },
  };
}
