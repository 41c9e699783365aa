import { createHash } from 'node:crypto';
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
} from '../../core/owner/command-ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import { createBatchedWriter } from '../state-files/batched-writer.ts';
import { readKept } from '../state-files/kept-state.ts';
import { INTERRUPTED, type KeptRecord, readRecord, writeRecord } from './command-record-file.ts';

/** A command as the record sees it. */
export interface NotedCommand {
  readonly id: string;
  readonly name: string;
  /** The same for the same command, whatever the order of its keys. */
  readonly content: string;
}

/** Remembers commands and their answers, over a restart too. */
export interface CommandRecord {
  /** Answers that are owed since the program ended last. */
  readonly owed: readonly (Addressee & { readonly answer: FinalAnswer })[];
  look(command: NotedCommand): ReturnType<typeof look>;
  /** Notes a command that is to be carried out in `then`: once the note is safe, or at once where it cannot be. */
  noteThen(command: NotedCommand, then: () => void): void;
  /** Notes a command that changes nothing: its end is written with the next one that does. */
  note(command: NotedCommand): void;
  /**
   * Settles a command and has it answered in `say`: with `answer` once that is safe, so that no restart contradicts it.
   * Where the disk does not take the end of a command whose begin it holds, the answer is what a restart would
   * give: `interrupted`. What the disk does not know as begun is answered at once.
   * @param isUrgent false: written with the next that is
   */
  settleThen(id: string, answer: FinalAnswer, say: (answer: FinalAnswer) => void, isUrgent?: boolean): void;
  /** The broker has the answer: after a restart it is not given again. */
  told(id: string): void;
  /** Whether the broker has the answer to a settled command, as far as is noted. */
  isTold(id: string): boolean;
  /** Resolves when everything is written, or cannot be. */
  flush(): Promise<void>;
}

/**
 * @param file null: nothing outlives the program
 * @param kept told why it cannot be written, once; null when it can be again
 */
export function createCommandRecord(
  file: StateFile | null,
  clock: Clock,
  log: Log,
  kept: (problem: string | null) => void = () => {},
): CommandRecord {
  const before = readKept(
    {
      ...{ file, log, parse: readRecord },
      // What is owed of them is told by the next start, or to whoever sends the command again.
      late: (record) => {
        ledger = new Map([...record.ledger, ...ledger]);
        writer?.changed();
      },
    },
    'the record of earlier commands cannot be read; a new one is begun',
  );
  const restored: KeptRecord = before ?? { ledger: EMPTY_LEDGER, owed: [] };
  let { ledger } = restored;
  const disk = file === null ? null : watchOpen(file, () => openKeys(ledger));
  /** Settled, but not answered until that is safe. */
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
            if (problem === null) log.info({}, 'commands are remembered over a restart again');
            else log.warn({ problem }, 'commands are not remembered over a restart; they are carried out');
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
        if (isSaved) return say(answer);
        ledger = settle(ledger, key, INTERRUPTED);
        writer.changed();
        say(INTERRUPTED);
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

/** Those that a restart would find unfinished if the ledger were written now. */
function openKeys(ledger: CommandLedger): Set<string> {
  const open = [...ledger.values()].filter((entry) => entry.open !== null);
  return new Set(open.map(({ key }) => key));
}

/** Knows which commands the file holds, or may hold in a moment, as unfinished. */
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
    /** The write takes too long: nobody waits for it, and what is settled until it ends is written right after it. */
    givenUp: (key: string): void => void onItsWay.delete(key),
  };
}

/** 128 bits of SHA-256: more than nobody can forge, and short. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
