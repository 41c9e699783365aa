import type { WallMs } from '../../protocol/common/time.ts';
/**
 * Which commands have been seen, and their answers. A command that comes again (from the broker, from an operator who
 * missed the answer, or after a restart) is carried out once and gets the same answer again.
 */

/** A final answer as the operator gets it. */
export interface FinalAnswer {
  readonly status: 'ok' | 'error' | 'expired';
  readonly error?: { readonly code: string; readonly message: string };
  readonly note?: string;
  readonly data?: unknown;
}

/** The receiver of an answer. */
export interface Addressee {
  readonly id: string;
  readonly name: string;
}

/** One command. Keys and contents are digests: the operators' text is not kept. */
export interface LedgerEntry {
  readonly key: string;
  readonly content: string;
  /** Time of arrival, milliseconds since 1970; null while the clock was not set. */
  readonly at: number | null;
  /** The receiver until the command is answered; null if it needs no answer after a restart. */
  readonly open: Addressee | null;
  readonly answer: FinalAnswer | null;
  /** The receiver of an answer that the broker has not acknowledged yet. */
  readonly untold: Addressee | null;
  /** Length of the answer's data as JSON; 0: it has none, or the data is no longer kept. */
  readonly dataLength: number;
}

export type CommandLedger = ReadonlyMap<string, LedgerEntry>;

export const EMPTY_LEDGER: CommandLedger = new Map();

/** The record of the last run. */
export interface KeptRecord {
  readonly ledger: CommandLedger;
  /** Answers that the broker had not acknowledged at the end of the last run: `interrupted`, or the saved answer. */
  readonly owed: readonly (Addressee & { readonly answer: FinalAnswer })[];
}

export const MOST_REMEMBERED = 1000;
export const REMEMBERED_MS = 24 * 3_600_000;
/** Maximum length of all answer data kept (characters): older answers lose their data, and are repeated without it. */
export const MOST_DATA_LENGTH = 262_144;

/** Looks up a command. @returns whether it is new, reuses an id for other content, or is unfinished; otherwise its answer */
export function look(
  ledger: CommandLedger,
  key: string,
  content: string,
): 'fresh' | 'other_content' | 'open' | FinalAnswer {
  const entry = ledger.get(key);
  if (entry === undefined) return 'fresh';
  if (entry.content !== content) return 'other_content';
  return entry.answer ?? 'open';
}

/** Notes a command before it is carried out, and removes old ones. */
export function note(
  ledger: CommandLedger,
  command: Pick<LedgerEntry, 'key' | 'content' | 'open'>,
  wallMs: WallMs | null,
): CommandLedger {
  const { key, content, open } = command;
  const next = new Map(ledger);
  next.set(key, { key, content, at: wallMs, open, answer: null, untold: null, dataLength: 0 });
  for (const entry of ledger.values()) {
    const isOld = wallMs !== null && entry.at !== null && wallMs - entry.at > REMEMBERED_MS;
    // Unanswered commands must stay: otherwise they could be carried out twice.
    if (entry.answer !== null && (isOld || next.size > MOST_REMEMBERED)) next.delete(entry.key);
  }
  return next;
}

/** Notes the final answer of a command. */
export function settle(ledger: CommandLedger, key: string, answer: FinalAnswer): CommandLedger {
  const entry = ledger.get(key);
  if (entry === undefined) return ledger;
  const dataLength = answer.data === undefined ? 0 : (JSON.stringify(answer.data)?.length ?? 0);
  const untold = entry.open ?? entry.untold;
  const next = new Map(ledger).set(key, { ...entry, open: null, answer, untold, dataLength });
  let total = 0;
  for (const each of [...next.values()].reverse()) {
    total += each.dataLength;
    if (total > MOST_DATA_LENGTH && each.answer !== null) {
      total -= each.dataLength;
      const { data: _forgotten, ...rest } = each.answer;
      next.set(each.key, { ...each, answer: rest, dataLength: 0 });
    }
  }
  return next;
}

/** Commands that would be unfinished after a restart if the ledger were written now. */
export function openKeys(ledger: CommandLedger): Set<string> {
  const open = [...ledger.values()].filter((entry) => entry.open !== null);
  return new Set(open.map(({ key }) => key));
}

/** Notes that the broker has the answer of a command. */
export function tell(ledger: CommandLedger, key: string): CommandLedger {
  const entry = ledger.get(key);
  if (entry === undefined || entry.untold === null) return ledger;
  return new Map(ledger).set(key, { ...entry, untold: null });
}

/**
 * Whether a command came too late. Without a set clock it is carried out: the broker's own expiry already holds back
 * commands that waited too long.
 */
export function isExpired(notAfter: string | null | undefined, wallMs: WallMs | null): boolean {
  if (notAfter == null || wallMs === null) return false;
  return wallMs > Date.parse(notAfter);
}
