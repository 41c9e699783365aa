/** Which commands have been seen, so that a message that the broker delivers twice is carried out once. */
export interface CommandLedger {
  /** Newest last. */
  readonly ids: readonly string[];
}

export const EMPTY_LEDGER: CommandLedger = { ids: [] };

/** Far more than can be on their way at one time. */
const REMEMBERED = 512;

/** Notes a command; `fresh` is false for one that was seen before. */
export function note(ledger: CommandLedger, id: string): { ledger: CommandLedger; fresh: boolean } {
  if (ledger.ids.includes(id)) return { ledger, fresh: false };
  return { ledger: { ids: [...ledger.ids, id].slice(-REMEMBERED) }, fresh: true };
}

/**
 * Whether a command came too late. Without a clock nobody can tell: then it is carried out, because
 * the broker's own expiry already holds back what waited too long.
 */
export function isExpired(notAfter: string | null | undefined, wallMs: number | null): boolean {
  if (notAfter == null || wallMs === null) return false;
  return wallMs > Date.parse(notAfter);
}
