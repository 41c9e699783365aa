import { type Balance, EVEN } from './record.ts';
import { MS_PER_LETTER } from './sentence.ts';

/** A text that is older is not spoken any more. */
const SPOKEN_WITHIN_MS = 5000;
/** A voice may be slower than expected by this much. */
const SLOW_VOICE = 1.1;
/** This share of what a text promises has to be there already. */
const LEAST_SHARE = 0.5;

/** @param isOther it is the begin of another sound: the one before ended a second ago or more */
export function withSound(balance: Balance, ms: number, isOther: boolean, now: number): Balance {
  const awaitedMs = now - balance.textAt < SPOKEN_WITHIN_MS ? balance.awaitedMs : 0;
  const before = isOther ? EVEN : balance;
  return {
    ...balance,
    heardMs: before.heardMs + ms,
    promisedMs: before.promisedMs + awaitedMs,
    awaitedMs: 0,
  };
}

/** @returns `isSpoken`: the sound before it was longer than other texts had promised, by as much as this one needs */
export function withText(
  balance: Balance,
  letters: number,
  now: number,
): { readonly balance: Balance; readonly isSpoken: boolean } {
  const ms = letters * MS_PER_LETTER;
  const spareMs = balance.heardMs - (balance.promisedMs + balance.awaitedMs) * SLOW_VOICE;
  if (ms > 0 && spareMs >= ms * LEAST_SHARE)
    return { balance: { ...balance, promisedMs: balance.promisedMs + ms }, isSpoken: true };
  return { balance: { ...balance, awaitedMs: balance.awaitedMs + ms, textAt: now }, isSpoken: false };
}
