/** The file format of the command record. */
import * as z from 'zod';
import { redactText } from '../../adapters/redaction.ts';
import { type Readers, type Reading, readVersioned } from '../state-files/versioned-file.ts';
import type { CommandLedger, FinalAnswer, KeptRecord, LedgerEntry } from './command-ledger.ts';

const LONGEST_KEPT_MESSAGE = 200;

const addresseeSchema = z.object({ id: z.string().max(128), name: z.string().max(64) });
const entrySchema = z.object({
  key: z.string().max(64),
  content: z.string().max(64),
  at: z.number().nullable(),
  open: addresseeSchema.optional(),
  untold: addresseeSchema.optional(),
  status: z.enum(['ok', 'error', 'expired']).optional(),
  code: z.string().max(64).optional(),
  message: z.string().max(1000).optional(),
});
type KeptEntry = z.infer<typeof entrySchema>;
/** The file's content, without arguments and answer data, which may be confidential. */
const contentSchema = z.object({ commands: z.array(entrySchema).max(2000) });

/** Version of the files that this program writes. */
export const RECORD_VERSION = 1;
const READERS: Readers<readonly KeptEntry[]> = {
  1: (json) => contentSchema.safeParse(json).data?.commands ?? null,
};

export const INTERRUPTED: FinalAnswer = {
  status: 'error',
  error: {
    code: 'interrupted',
    message:
      'the agent stopped, or its disk failed, before the result of the command was saved; send it again',
  },
};

export function writeRecord(ledger: CommandLedger): string {
  // A read-only command is answered without the disk, so the file must not list it as unfinished.
  const kept = [...ledger.values()].filter(({ open, answer }) => open !== null || answer !== null);
  const commands = kept.map(({ key, content, at, open, answer, untold }): KeptEntry => {
    if (answer === null) return { key, content, at, ...(open === null ? {} : { open }) };
    const { status, error } = answer;
    const answered = { key, content, at, ...(untold === null ? {} : { untold }), status };
    if (error === undefined) return answered;
    const message = redactText(error.message.slice(0, LONGEST_KEPT_MESSAGE), true);
    return { ...answered, code: error.code.slice(0, 64), message };
  });
  return JSON.stringify({ version: RECORD_VERSION, commands });
}

export function readRecord(text: string): Reading<KeptRecord> {
  const read = readVersioned(text, RECORD_VERSION, READERS);
  if (read.kind !== 'kept') return read;
  const kept = read.content;
  const ledger = new Map(kept.map((entry) => [entry.key, ledgerEntry(entry)]));
  const owed = [...ledger.values()].flatMap(({ untold, answer }) =>
    untold === null || answer === null ? [] : [{ ...untold, answer }],
  );
  return { kind: 'kept', content: { ledger, owed } };
}

function ledgerEntry({ key, content, at, open, untold, status, code, message = '' }: KeptEntry): LedgerEntry {
  const answer: FinalAnswer =
    status === undefined
      ? INTERRUPTED
      : { status, ...(code === undefined ? {} : { error: { code, message } }) };
  return { key, content, at, open: null, answer, untold: open ?? untold ?? null, dataLength: 0 };
}
