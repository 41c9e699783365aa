/** The generated parts of docs/backend.md. */
import { BILL, BILL_COLUMNS } from '../../src/protocol/bill.ts';
import { DENIALS } from '../../src/protocol/mqtt/denials.ts';
import { keysOf, table } from './table.ts';

export const BACKEND_PARTS: Readonly<Record<string, () => string>> = {
  bill: () =>
    table(
      ['column', 'means'],
      BILL_COLUMNS.map((column) => [`\`${column}\``, BILL[column].means]),
    ),
  denials: () =>
    table(
      ['code', 'means', 'what to do'],
      keysOf(DENIALS).map((code) => [`\`${code}\``, DENIALS[code].title, DENIALS[code].todo]),
    ),
};
