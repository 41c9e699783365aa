import { isGood, type ProvisioningResult } from './outcome.ts';
import type { PHRASES, PhraseCode } from './phrases.ts';

/** What became of the settings on the card, as far as something is to be said of it. */
export interface SettingsNews {
  /** What is said of them; null: nothing. */
  readonly code: PhraseCode | null;
  readonly isBad: boolean;
  /** What exactly is wrong; empty where nothing is. */
  readonly detail: string;
  /** There was no file, and need not be one where the kiosk is set up. */
  readonly isMissing: boolean;
}

/** Whoever reads it corrects one after the other. */
const MOST_PROBLEMS = 8;

/** @param result null where it could not be read */
export function settingsNews(result: ProvisioningResult | null): SettingsNews {
  const none = { code: null, isBad: false, detail: '', isMissing: false };
  if (result === null) return none;
  const { outcome, problems } = result;
  if (outcome === 'no_file') return { ...none, isMissing: true };
  // A kiosk that starts as usual has nothing to tell but how it is.
  if (outcome === 'unchanged') return none;
  const told = problems.slice(0, MOST_PROBLEMS).map(({ field, message, fix }) => {
    const what = field === '' ? message : `${field} ${message}`;
    return fix === '' ? what : `${what}. ${fix}`;
  });
  return { ...none, code: codeOf(outcome), isBad: !isGood(outcome), detail: told.join('; ') };
}

/** Every outcome that is told has a phrase of its name. */
function codeOf(outcome: Exclude<ProvisioningResult['outcome'], 'no_file' | 'unchanged'>): PhraseCode {
  return outcome satisfies keyof typeof PHRASES;
}
