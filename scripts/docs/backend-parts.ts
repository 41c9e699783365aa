/** The generated parts of docs/backend.md. */
import { CONSEQUENCES } from '../../src/backend/core/service-trouble.ts';
import { DENIAL_ADVICE, SERVICE_ADVICE } from './fault-advice.ts';
import { keysOf, rowsOf, table } from './table.ts';

export const BACKEND_PARTS: Readonly<Record<string, () => string>> = {
  denials: () =>
    table(
      ['code', 'means', 'what to look at'],
      [
        ...rowsOf(DENIAL_ADVICE),
        ...keysOf(SERVICE_ADVICE).map((kind) => {
          const { code, title } = CONSEQUENCES[kind];
          return [`\`${code}\``, title, SERVICE_ADVICE[kind]];
        }),
      ],
    ),
};
