import { neutralise } from '../demo/display-text.ts';

/** The scripts that the 512 letters of a console's font can have. */
const SCRIPTS = ['Latn', 'Grek', 'Cyrl'];
const STRANGE =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]|\p{Extended_Pictographic}(?<![\d#*©®™])/gu;

/** Whether a text console can show this language; true for a language that the service detects. */
export function isForConsole(language: string): boolean {
  try {
    return SCRIPTS.includes(new Intl.Locale(language).maximize().script ?? '');
  } catch {
    return true;
  }
}

/** Sanitises a text for a console, which cannot combine characters: one cell per character; keeps blanks at the ends. */
export function consoleText(text: string): string {
  const inner = neutralise(text.normalize('NFC')).replace(/\p{M}/gu, '').replace(STRANGE, '?');
  if (inner === '') return text === '' ? '' : ' ';
  return `${/^\s/.test(text) ? ' ' : ''}${inner}${/\s$/.test(text) ? ' ' : ''}`;
}
