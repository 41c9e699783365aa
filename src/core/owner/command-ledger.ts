import type { WallMs } from '../../protocol/time.ts';
/**
 * Which commands have been seen and what was answered, so that a message that comes again (from the broker, from an
 * operator who missed the answer, after a restart) is carried out once and gets the same answer again.
 */

/** A final answer, as the operator gets it. */
export interface FinalAnswer {
  readonly status: 'ok' | 'error' | 'expired';
  readonly error?: { readonly code: string; readonly message: string };
  readonly data?: unknown;
}

/** Whom a command's answer names. */
export interface Addressee {
  readonly id: string;
  readonly name: string;
}

/** One command. Keys and contents are digests: what operators send is not kept. */
export interface LedgerEntry {
  readonly key: string;
  readonly content: string;
  /** When it came, milliseconds since 1970; null while the clock was not set. */
  readonly at: number | null;
  /** Whom to answer, until it is answered; null where its end need not be told after a restart. */
  readonly open: Addressee | null;
  readonly answer: FinalAnswer | null;
  /** To whom its answer is owed: the broker has not acknowledged it yet. */
  readonly untold: Addressee | null;
  /** Length of the answer's data as JSON; 0 where it has none, or none any more. */
  readonly dataLength: number;
}

export type CommandLedger = ReadonlyMap<string, LedgerEntry>;

export const EMPTY_LEDGER: CommandLedger = new Map();

export const MOST_REMEMBERED = 1000;
export const REMEMBERED_MS = 24 * 3_600_000;
/** This much of what was answered is kept, the newest; older answers come again without their data. */
export const MOST_DATA_LENGTH = 262_144;

/** What is known of a command: nothing, that its id stood for something else, that it is not done, or its answer. */
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

/** Notes a command that is about to be carried out, and forgets what is old enough. */
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
    // What is not answered yet must not be forgotten: it would be carried out twice.
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

/** Notes that the broker has the answer of a command. */
export function tell(ledger: CommandLedger, key: string): CommandLedger {
  const entry = ledger.get(key);
  if (entry === undefined || entry.untold === null) return ledger;
  return new Map(ledger).set(key, { ...entry, untold: null });
}

/**
 * Whether a command came too late. Without a clock nobody can tell: then it is carried out, because
 * the broker's own expiry already holds back what waited too long.
 */
export function isExpired(notAfter: string | null | undefined, wallMs: WallMs | null): boolean {
  if (notAfter == null || wallMs === null) return false;
  return wallMs > Date.parse(notAfter);
}
