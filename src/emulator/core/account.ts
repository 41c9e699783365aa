/** Why an account may not run streams (docs/service.md 3.3); null when it may. */
export type AccountTrouble = 'insufficient_balance' | 'account_blocked';

/** The account's condition. Times are milliseconds. */
export interface Account {
  trouble(now: number): AccountTrouble | null;
  /** Whether the balance is finite. */
  readonly isMetered: boolean;
  /** How long the balance lasts with this many streams; Infinity if it is not metered or already used up, or without streams. */
  lastsMs(streams: number): number;
  /** Takes stream time off the balance. */
  charge(ms: number): void;
  /** Treats the account as without balance for `forMs`; undefined: until `clear`. */
  exhaust(now: number, forMs: number | undefined): void;
  block(now: number, forMs: number | undefined): void;
  /** Ends the effects of faults; a balance that streams have used up stays used up. */
  clear(): void;
}

/** @param balanceMs stream time that the balance pays for; null: unlimited */
export function createAccount(balanceMs: number | null): Account {
  let left = balanceMs ?? Number.POSITIVE_INFINITY;
  let exhaustedUntil = Number.NEGATIVE_INFINITY;
  let blockedUntil = Number.NEGATIVE_INFINITY;
  const until = (now: number, forMs: number | undefined): number =>
    forMs === undefined ? Number.POSITIVE_INFINITY : now + forMs;
  return {
    trouble(now) {
      if (now < blockedUntil) return 'account_blocked';
      return left <= 0 || now < exhaustedUntil ? 'insufficient_balance' : null;
    },
    isMetered: balanceMs !== null,
    lastsMs: (streams) => (left <= 0 || streams === 0 ? Number.POSITIVE_INFINITY : left / streams),
    charge(ms) {
      left -= ms;
    },
    exhaust(now, forMs) {
      exhaustedUntil = until(now, forMs);
    },
    block(now, forMs) {
      blockedUntil = until(now, forMs);
    },
    clear() {
      exhaustedUntil = Number.NEGATIVE_INFINITY;
      blockedUntil = Number.NEGATIVE_INFINITY;
    },
  };
}
