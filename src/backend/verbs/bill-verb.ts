import { type Command, Option } from 'commander';
import { createSystemClock } from '../../adapters/clock.ts';
import { StoreDown, StoreRefused } from '../../ports/store.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { BILL, BILL_COLUMNS, BILL_KEYS, type BillKey, type BillLine } from '../../protocol/bill.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import { billOf, readMonth } from '../bill/bill.ts';
import { csvOf } from '../bill/bill-csv.ts';
import { CONFIG_OPTION, openStoreConfig } from '../config/open-config.ts';
import { openKeptStore } from '../store/open-store.ts';

interface BillOptions {
  config?: string;
  month: string;
  by: BillKey;
  csv?: true;
  json?: true;
}

/** `bill`: the duration of a month's streams, from the ledger. */
export function addBillVerb(program: Command, shell: Shell): void {
  program
    .command('bill')
    .description('minutes of a month by device, group or site, with a forecast and budgets')
    .option(...CONFIG_OPTION)
    .requiredOption('--month <month>', 'month in UTC, such as "2026-11"')
    .addOption(new Option('--by <what>', 'one line for each').choices(BILL_KEYS).default('device'))
    .option('--csv', 'print comma-separated values with a header')
    .option('--json', 'print one line: {"bill": {"month", "by", "lines": [{"name", "minutes", ...}]}}')
    .addHelpText(
      ...examples(
        'dragoman-backend bill --config backend.json --month 2026-11',
        'dragoman-backend bill --config backend.json --month 2026-11 \\\n    --by group --csv',
      ),
    )
    .action((options: BillOptions) => bill(shell, options));
}

async function bill(shell: Shell, options: BillOptions): Promise<void> {
  const month = readMonth(options.month);
  if (month === null)
    throw new Failure(`--month: "${options.month}" is not a month; write 2026-11`, EXIT.usage);
  if (options.csv && options.json) throw new Failure('choose either --csv or --json', EXIT.usage);
  const { config, storePassword } = openStoreConfig(shell, options.config);
  const store = openKeptStore(config.store, storePassword);
  try {
    const sums = await store.sums(month.from, month.to);
    const now = createSystemClock().wall() ?? month.to;
    const lines = billOf(sums, config, options.by, month, now);
    if (options.json) shell.print(jsonLine({ bill: { month: options.month, by: options.by, lines } }));
    else if (options.csv) shell.print(csvOf(lines));
    else for (const line of lines) shell.print(textLine(describe(line)));
    if (lines.length === 0 && !options.csv && !options.json) shell.print(`no sessions in ${options.month}\n`);
  } catch (error) {
    if (error instanceof StoreDown || error instanceof StoreRefused) throw new Failure(error.message);
    throw error;
  } finally {
    await store.close();
  }
}

const WARNINGS = {
  none: '',
  near_budget: '  WARNING: near the budget',
  over_budget: '  WARNING: over the budget',
};

function describe(line: BillLine): string {
  const { name, sessions, minutes, forecast_minutes: forecast, budget_minutes: budget, warning } = line;
  const used = `${minutes}${budget === null ? '' : ` of ${budget}`} min`;
  const remarks = BILL_COLUMNS.flatMap((column) => BILL[column].remark?.(line) ?? []);
  const facts = [`${used} in ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`, ...remarks].join(', ');
  return `${name}  ${facts}; month's end: ${forecast} min${WARNINGS[warning]}`;
}
