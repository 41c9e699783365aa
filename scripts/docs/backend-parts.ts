/** The generated parts of docs/backend.md. */
import { DENIALS } from '../../src/protocol/mqtt/denials.ts';
import { keysOf, table } from './table.ts';

export const BACKEND_PARTS: Readonly<Record<string, () => string>> = {
  denials: () =>
    table(
      ['code', 'means', 'what to do'],
      keysOf(DENIALS).map((code) => [`\`${code}\``, DENIALS[code].title, DENIALS[code].todo]),
    ),
};
