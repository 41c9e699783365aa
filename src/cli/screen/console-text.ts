import { neutralise } from '../demo/display-text.ts';

/** The scripts that the 512 letters of a console's font can have. */
const SCRIPTS = ['Latn', 'Grek', 'Cyrl'];
const STRANGE =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]|\p{Extended_Pictographic}(?<![\d#*©®™])/gu;

/** Whether a text console can show this language; one that the service is to detect may be any. */
export function isForConsole(language: string): boolean {
  try {
    return SCRIPTS.includes(new Intl.Locale(language).maximize().script ?? '');
  } catch {
    return true;
  }
}

/** A text from outside for a console, which puts nothing together: one cell for each character, blanks at the ends kept. */
export function consoleText(text: string): string {
  const inner = neutralise(text.normalize('NFC')).replace(/\p{M}/gu, '').replace(STRANGE, '?');
  if (inner === '') return text === '' ? '' : ' ';
  return `${/^\s/.test(text) ? ' ' : ''}${inner}${/\s$/.test(text) ? ' ' : ''}`;
}
