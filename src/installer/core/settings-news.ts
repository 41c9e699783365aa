import { isGood, type ProvisioningResult } from './outcome.ts';
import type { PHRASES, PhraseCode } from './phrases.ts';

/** The announced part of the result of reading the settings. */
export interface SettingsNews {
  /** Phrase to announce; null: none. */
  readonly code: PhraseCode | null;
  readonly isBad: boolean;
  /** Exact description of the mistakes; empty if there are none. */
  readonly detail: string;
  /** There was no file; a kiosk that is set up needs none. */
  readonly isMissing: boolean;
}

/** Maximum number of mistakes in the text: people correct them one by one. */
const MOST_PROBLEMS = 8;

/** @param result null if it could not be read */
export function settingsNews(result: ProvisioningResult | null): SettingsNews {
  const none = { code: null, isBad: false, detail: '', isMissing: false };
  if (result === null) return none;
  const { outcome, problems } = result;
  if (outcome === 'no_file') return { ...none, isMissing: true };
  // After a normal start, only the state of the kiosk is announced.
  if (outcome === 'unchanged') return none;
  const texts = problems.slice(0, MOST_PROBLEMS).map(({ field, message, fix }) => {
    const what = field === '' ? message : `${field} ${message}`;
    return fix === '' ? what : `${what}. ${fix}`;
  });
  return { ...none, code: codeOf(outcome), isBad: !isGood(outcome), detail: texts.join('; ') };
}

/** Every announced outcome has a phrase of the same name. */
function codeOf(outcome: Exclude<ProvisioningResult['outcome'], 'no_file' | 'unchanged'>): PhraseCode {
  return outcome satisfies keyof typeof PHRASES;
}
