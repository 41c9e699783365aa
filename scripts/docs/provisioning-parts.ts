/** The generated parts of docs/provisioning.md. */
import { PHRASE_CODES, PHRASES } from '../../src/installer/core/phrases.ts';
import { table } from './table.ts';

export const PROVISIONING_PARTS: Readonly<Record<string, () => string>> = {
  phrases: () =>
    table(
      ['phrase', 'code', 'what to do'],
      PHRASE_CODES.map((code) => [PHRASES[code].words.en, `\`${code}\``, PHRASES[code].advice]),
    ),
};
