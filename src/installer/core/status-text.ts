/** Content of dragoman-status.txt, for a person who puts the card into a PC. */
import type { ProvisioningOutcome, ProvisioningProblem, ProvisioningResult } from './outcome.ts';

/** One sentence per outcome. */
const SENTENCES: Readonly<Record<ProvisioningOutcome, string>> = {
  applied: 'All of dragoman.json is in effect.',
  unchanged: 'All of dragoman.json was already in effect.',
  no_file: 'There is no dragoman.json.',
  file_unreadable: 'dragoman.json cannot be read. Nothing was changed.',
  file_invalid: 'dragoman.json has a mistake. Nothing was changed.',
  key_unreadable: 'A certificate or key in dragoman.json cannot be used. Nothing was changed.',
  secrets_missing:
    'Secrets that were removed from dragoman.json are not on this device. Everything that works without them is in effect.',
  wifi_unsupported: 'This kind of Wi-Fi is not supported. Nothing was changed.',
  disk_full: 'The disk of the device is full. Nothing was changed.',
  write_failed: 'The disk of the device cannot be written. Nothing was changed.',
};

export function outcomeSentence(outcome: ProvisioningOutcome): string {
  return SENTENCES[outcome];
}

/** One line: field, what is wrong, what to do. */
export function problemLine({ field, message, fix }: ProvisioningProblem): string {
  const what = field === '' ? message : `${field}: ${message}`;
  return [`${what}${/[.?!]$/.test(what) ? '' : '.'}`, ...(fix === '' ? [] : [fix])].join(' ');
}

/** Lines without line ends. */
export function statusLines({ at, outcome, problems, notes }: ProvisioningResult): string[] {
  const time =
    at === null ? 'not known: the clock is not set yet' : `${at.slice(0, 19).replace('T', ' ')} UTC`;
  const list = (lines: readonly string[]): string[] => lines.map((line) => `- ${line}`);
  return [
    'Dragoman: result of dragoman.json',
    `Time:   ${time}`,
    `Result: ${outcome}. ${outcomeSentence(outcome)}`,
    ...(problems.length === 0 ? [] : ['', 'To fix:', ...list(problems.map(problemLine))]),
    ...(notes.length === 0 ? [] : ['', 'Notes:', ...list(notes)]),
  ];
}

/** With Windows line ends, because some Windows editors need them. */
export function statusText(result: ProvisioningResult): string {
  return statusLines(result)
    .map((line) => `${line}\r\n`)
    .join('');
}
