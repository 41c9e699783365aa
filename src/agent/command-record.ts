import { createHash } from 'node:crypto';
import { z } from 'zod';
import { redactText } from '../adapters/redaction.ts';
import {
  type CommandLedger,
  EMPTY_LEDGER,
  type FinalAnswer,
  type LedgerEntry,
  look,
  note,
  settle,
} from '../core/command-ledger.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { StateFile } from '../ports/state-file.ts';
import { createBatchedWriter } from './batched-writer.ts';

/** A command as the record sees it. */
export interface NotedCommand {
  readonly id: string;
  readonly name: string;
  /** The same for the same command, whatever the order of its keys. */
  readonly content: string;
}

/** Remembers commands and their answers, over a restart too. */
export interface CommandRecord {
  /** Commands that were begun and not answered when the program ended last. */
  readonly interrupted: readonly { readonly id: string; readonly name: string }[];
  look(command: NotedCommand): ReturnType<typeof look>;
  /** Notes a command that is to be carried out in `then`: once the note is safe, or at once where it cannot be. */
  noteThen(command: NotedCommand, then: () => void): void;
  /** Notes a command that changes nothing: it is written with the next one that does. */
  note(command: NotedCommand): void;
  /** @param isUrgent false: written with the next that is */
  settle(id: string, answer: FinalAnswer, isUrgent?: boolean): void;
  /** Resolves when everything is written, or cannot be. */
  flush(): Promise<void>;
}

const LONGEST_KEPT_MESSAGE = 200;

const entrySchema = z.object({
  key: z.string().max(64),
  content: z.string().max(64),
  at: z.number().nullable(),
  open: z.object({ id: z.string().max(128), name: z.string().max(64) }).optional(),
  status: z.enum(['ok', 'error', 'expired']).optional(),
  code: z.string().max(64).optional(),
  message: z.string().max(1000).optional(),
});
/** What is on the disk. No argument and no data of an answer: they could hold what is nobody else's business. */
const recordFileSchema = z.object({ version: z.literal(1), commands: z.array(entrySchema).max(2000) });
type KeptEntry = z.infer<typeof entrySchema>;

/** @param file null: nothing outlives the program */
export function createCommandRecord(file: StateFile | null, clock: Clock, log: Log): CommandRecord {
  const restored = file === null ? { ledger: EMPTY_LEDGER, interrupted: [] } : restore(file, log);
  let { ledger } = restored;
  const writer =
    file === null
      ? null
      : createBatchedWriter(
          file,
          clock,
          () => serialize(ledger),
          (problem) => {
            if (problem === null) log.info({}, 'commands are remembered over a restart again');
            else log.warn({ problem }, 'commands are not remembered over a restart; they are carried out');
          },
        );
  if (restored.interrupted.length > 0) writer?.changed();
  const enter = ({ id, name, content }: NotedCommand): void => {
    ledger = note(ledger, { key: digest(id), content: digest(content), id, name }, clock.wall());
  };
  return {
    interrupted: restored.interrupted,
    look: ({ id, content }) => look(ledger, digest(id), digest(content)),
    note: enter,
    noteThen(command, then) {
      enter(command);
      if (writer === null) then();
      else writer.changedThen(then);
    },
    settle(id, answer, isUrgent = true) {
      ledger = settle(ledger, digest(id), answer);
      if (isUrgent) writer?.changed();
    },
    flush: async () => writer?.flush(),
  };
}

/** 128 bits of SHA-256: more than nobody can forge, and short. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function serialize(ledger: CommandLedger): string {
  const commands = Array.from(ledger.values(), ({ key, content, at, open, answer }): KeptEntry => {
    if (answer === null) return { key, content, at, ...(open === null ? {} : { open }) };
    const { status, error } = answer;
    if (error === undefined) return { key, content, at, status };
    const message = redactText(error.message.slice(0, LONGEST_KEPT_MESSAGE), true);
    return { key, content, at, status, code: error.code.slice(0, 64), message };
  });
  return JSON.stringify({ version: 1, commands });
}

export const INTERRUPTED: FinalAnswer = {
  status: 'error',
  error: { code: 'interrupted', message: 'the agent ended before the command was done; send it anew' },
};

function restore(
  file: StateFile,
  log: Log,
): { ledger: CommandLedger; interrupted: { id: string; name: string }[] } {
  const text = file.read();
  if (text === null) return { ledger: EMPTY_LEDGER, interrupted: [] };
  const kept = readRecord(text);
  if (kept === null) {
    log.warn({}, 'the record of earlier commands cannot be read; a new one is begun');
    return { ledger: EMPTY_LEDGER, interrupted: [] };
  }
  const ledger = new Map(kept.map((entry) => [entry.key, ledgerEntry(entry)]));
  const interrupted = kept.flatMap(({ open }) => (open === undefined ? [] : [open]));
  return { ledger, interrupted };
}

function readRecord(text: string): KeptEntry[] | null {
  try {
    const parsed = recordFileSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.commands : null;
  } catch {
    return null;
  }
}

function ledgerEntry({ key, content, at, status, code, message = '' }: KeptEntry): LedgerEntry {
  const answer: FinalAnswer =
    status === undefined
      ? INTERRUPTED
      : { status, ...(code === undefined ? {} : { error: { code, message } }) };
  return { key, content, at, open: null, answer, dataLength: 0 };
}
