import { REDACTED, redactText } from '../redaction.ts';

const LONGEST_CHARS = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Sanitises a text from the service for display: one line, limited length, without the token. */
export type CleanText = (text: string) => string;

export function createTextCleaner(token: string): CleanText {
  const forms = token === '' ? [] : [token, encodeURIComponent(token)];
  return (text) => {
    const line = text
      .slice(0, 4 * LONGEST_CHARS)
      .replace(CONTROL_CHARACTERS, ' ')
      .trim();
    const safe = forms.reduce((said, form) => said.replaceAll(form, REDACTED), line);
    return redactText(safe).slice(0, LONGEST_CHARS);
  };
}
