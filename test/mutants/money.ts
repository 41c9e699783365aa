import type { Mutant } from './mutant.ts';

/** Bill, ledger, webhook. */
export const MUTANTS: readonly Mutant[] = [
  {
    file: 'src/backend/core/bill.ts',
    from: '{ from: Date.UTC(Number(year), Number(month) - 1), to: Date.UTC(Number(year), Number(month)) }',
    to: '{ from: +new Date(Number(year), Number(month) - 1), to: +new Date(Number(year), Number(month)) }',
    seen: "the first hours of a month stand on the other month's bill, by the zone of the machine",
  },
  {
    file: 'src/backend/core/bill-csv.ts',
    from: `safe.replaceAll('"', '""')`,
    to: 'safe',
    seen: 'a site with a quote in its name shifts the columns of the spreadsheet',
  },
  {
    file: 'src/backend/core/bill.ts',
    from: '(now - from) / (to - from)',
    to: '(to - now) / (to - from)',
    seen: 'the forecast falls while the minutes rise',
  },
  {
    file: 'src/backend/core/bill.ts',
    from: "share >= 1 ? 'over_budget'",
    to: "share > 1 ? 'over_budget'",
    seen: 'a group that has used its whole budget is only near it',
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: 'WHEN told_ms > most_ms THEN most_ms ELSE told_ms END',
    to: 'ELSE told_ms END',
    seen: 'a device that reports a century costs a century',
  },
  {
    file: 'src/backend/store/sql-store.ts',
    from: '[from, from, from, from - LONGEST_SESSION_MS, to]',
    to: '[from, from, from, from, to]',
    seen: "a stream over the month's end costs nothing",
  },
  {
    file: 'src/backend/watch/webhook.ts',
    from: 'if (!isClosed && queue[0] === next) queue.shift();',
    to: 'if (!isClosed) queue.shift();',
    seen: 'with a full queue, messages to the webhook are lost without a trace',
  },
  {
    file: 'src/backend/watch/webhook.ts',
    from: 'status >= 200 && status < 300',
    to: 'status >= 200 && status < 400',
    seen: 'a webhook that moved gets nothing, and the log says that all was sent',
  },
];
