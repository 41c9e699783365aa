import { createHash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import { createBatchedWriter } from '../state-files/batched-writer.ts';
import { readKept } from '../state-files/kept-state.ts';
import {
  type Addressee,
  type CommandLedger,
  EMPTY_LEDGER,
  type FinalAnswer,
  type LedgerEntry,
  look,
  note,
  settle,
  tell,
} from './command-ledger.ts';
import { type KeptRecord, readRecord, UNSAVED, writeRecord } from './command-record-file.ts';

/** A command as the record keeps it. */
export interface NotedCommand {
  readonly id: string;
  readonly name: string;
  /** Equal for equal commands, whatever the order of keys. */
  readonly content: string;
}

/** Remembers commands and their answers, even across restarts. */
export interface CommandRecord {
  /** Answers owed from the last run. */
  readonly owed: readonly (Addressee & { readonly answer: FinalAnswer })[];
  look(command: NotedCommand): ReturnType<typeof look>;
  /**
   * Notes a command, and calls `then`, which carries it out, once the note is saved; at once if it cannot be saved.
   */
  noteThen(command: NotedCommand, then: () => void): void;
  /** Notes a read-only command; it is written with the next other command. */
  note(command: NotedCommand): void;
  /**
   * Settles a command, and calls `say` with `answer` once that is saved, so that no restart contradicts it.
   * If the disk lists the command as unfinished and its result is not saved in time, the answer says so. A command
   * that is not on the disk is answered at once.
   * @param isUrgent false: written with the next urgent change
   */
  settleThen(id: string, answer: FinalAnswer, say: (answer: FinalAnswer) => void, isUrgent?: boolean): void;
  /** The broker has the answer: it is not given again after a restart. */
  told(id: string): void;
  /** Whether the broker is known to have the answer to a settled command. */
  isTold(id: string): boolean;
  /** Resolves when everything is written, or writing has failed. */
  flush(): Promise<void>;
}

/**
 * @param file null: nothing is kept across restarts
 * @param kept called once with a reason when the file cannot be written, and with null once it can be written again
 */
export function createCommandRecord(
  file: StateFile | null,
  clock: Clock,
  log: Log,
  kept: (problem: string | null) => void = () => {},
): CommandRecord {
  const before = readKept(
    {
      file,
      log,
      parse: readRecord,
      // Answers owed by this record are given at the next start, or when the command comes again.
      late: (record) => {
        ledger = new Map([...record.ledger, ...ledger]);
        writer?.changed();
      },
    },
    'cannot read the record of earlier commands; beginning a new one',
  );
  const restored: KeptRecord = before ?? { ledger: EMPTY_LEDGER, owed: [] };
  let { ledger } = restored;
  const disk = file === null ? null : watchOpen(file, () => openKeys(ledger));
  /** Settled commands that are answered once their result is saved. */
  const unsaved = new Set<string>();
  const writer =
    disk === null
      ? null
      : createBatchedWriter(
          disk.file,
          clock,
          () => writeRecord(ledger),
          (problem) => {
            kept(problem);
            if (problem === null) log.info({}, 'commands are remembered across a restart again');
            else
              log.warn({ problem }, 'commands are carried out, but will not be remembered after a restart');
          },
        );
  if (restored.owed.length > 0) writer?.changed();
  const enter = ({ id, content }: NotedCommand, open: LedgerEntry['open']): void => {
    ledger = note(ledger, { key: digest(id), content: digest(content), open }, clock.wall());
  };
  return {
    owed: restored.owed,
    look({ id, content }) {
      const known = look(ledger, digest(id), digest(content));
      return typeof known === 'object' && unsaved.has(digest(id)) ? 'open' : known;
    },
    note: (command) => enter(command, null),
    noteThen(command, then) {
      const { id, name } = command;
      enter(command, { id, name });
      if (writer === null) return then();
      writer.changedThen((isSaved) => {
        if (!isSaved) disk?.givenUp(digest(id));
        then();
      });
    },
    settleThen(id, answer, say, isUrgent = true) {
      const key = digest(id);
      ledger = settle(ledger, key, answer);
      if (writer === null || disk?.holdsOpen(key) !== true) {
        if (isUrgent) writer?.changed();
        return say(answer);
      }
      unsaved.add(key);
      writer.changedThen((isSaved) => {
        unsaved.delete(key);
        say(isSaved ? answer : { ...answer, note: UNSAVED });
      });
    },
    told(id) {
      const before = ledger;
      ledger = tell(ledger, digest(id));
      if (ledger !== before) writer?.changed();
    },
    isTold: (id) => ledger.get(digest(id))?.untold === null,
    flush: async () => writer?.flush(),
  };
}

/** Commands that would be unfinished after a restart if the ledger were written now. */
function openKeys(ledger: CommandLedger): Set<string> {
  const open = [...ledger.values()].filter((entry) => entry.open !== null);
  return new Set(open.map(({ key }) => key));
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
    holdsOpen: (key: string): boolean => onDisk.has(key) || onItsWay.has(key),
    /** The write has timed out, so the command counts as not on the disk. */
    givenUp: (key: string): void => void onItsWay.delete(key),
  };
}

/** 128 bits of SHA-256: not forgeable, and short. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
