import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import { createBatchedWriter } from '../state-files/batched-writer.ts';
import { readKept } from '../state-files/kept-state.ts';
import { type CommandLedger, EMPTY_LEDGER, type KeptRecord, openKeys } from './command-ledger.ts';
import { readRecord, writeRecord } from './command-record-file.ts';

/** The file with the ledger of commands. */
export interface CommandRecord {
  /** The record of the last run. */
  readonly before: KeptRecord;
  /** Whether the file lists a command as unfinished, or may soon. */
  isListed(key: string): boolean;
  /**
   * Saves the ledger with its new command. `ended` is called when the ledger is saved, or when the write has failed or
   * timed out. While the disk is failing, it is called at once.
   */
  saveNote(key: string, ended: (isSaved: boolean) => void): void;
  /** As `saveNote`, for the result of a command. */
  saveResult(ended: (isSaved: boolean) => void): void;
  /** Saves the ledger soon. */
  save(): void;
  /** Resolves when everything is written, or writing has failed. */
  flush(): Promise<void>;
}

export interface CommandRecordDeps {
  /** Null: nothing is kept across restarts. */
  readonly file: StateFile | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once with a reason when the file cannot be written, and with null once it can be written again. */
  kept(problem: string | null): void;
  /** The present ledger. */
  ledger(): CommandLedger;
  /** Called when the disk delivers the record of the last run late. */
  found(record: KeptRecord): void;
}

export function createCommandRecord(deps: CommandRecordDeps): CommandRecord {
  const { file, clock, log, kept, ledger, found } = deps;
  const before = readKept(
    { file, log, parse: readRecord, late: found },
    'cannot read the record of earlier commands; beginning a new one',
  ) ?? { ledger: EMPTY_LEDGER, owed: [] };
  if (file === null) {
    const ended = (then: (isSaved: boolean) => void): void => then(true);
    const saveNote = (_: string, then: (isSaved: boolean) => void): void => then(true);
    return { before, isListed: () => false, saveNote, saveResult: ended, save() {}, async flush() {} };
  }
  const disk = watchOpen(file, () => openKeys(ledger()));
  const writer = createBatchedWriter(
    disk.file,
    clock,
    () => writeRecord(ledger()),
    (problem) => {
      kept(problem);
      if (problem === null) log.info({}, 'commands are remembered across a restart again');
      else log.warn({ problem }, 'commands are carried out, but will not be remembered after a restart');
    },
  );
  return {
    before,
    isListed: disk.isListed,
    saveNote(key, ended) {
      writer.changedThen((isSaved) => {
        if (!isSaved) disk.givenUp(key);
        ended(isSaved);
      });
    },
    saveResult: (ended) => writer.changedThen(ended),
    save: () => writer.changed(),
    flush: () => writer.flush(),
  };
}

/** Tracks the commands that the file lists as unfinished, or may soon. */
function watchOpen(file: StateFile, open: () => ReadonlySet<string>) {
  let onDisk: ReadonlySet<string> = new Set();
  const onItsWay = new Set<string>();
  const watched: StateFile = {
    name: file.name,
    read: () => file.read(),
    async write(text) {
      const written = open();
      for (const key of written) onItsWay.add(key);
      const result = await file.write(text);
      if (result.ok) onDisk = written;
      onItsWay.clear();
      return result;
    },
  };
  return {
    file: watched,
    isListed: (key: string): boolean => onDisk.has(key) || onItsWay.has(key),
    /** The write has timed out, so the command counts as not on the disk. */
    givenUp: (key: string): void => void onItsWay.delete(key),
  };
}
