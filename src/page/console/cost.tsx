import {
  BILL_KEYS,
  BILL_ON_CONSOLE,
  type BillFormat,
  type BillLine,
  CONSOLE_BILL_COLUMNS,
} from '../../protocol/bill.ts';
import type { Cost } from '../../protocol/console-owner.ts';
import { Choice } from './parts/choice.tsx';
import { Shown, useFetched } from './parts/fetched.tsx';
import { Report } from './parts/report.tsx';
import { queryValue, setQuery } from './parts/route.ts';
import { DeviceLink, Name } from './parts/words.tsx';
import { numberText, t } from './texts/text.ts';

/** What a month costs. */
export function CostPage() {
  const month = /^\d{4}-\d{2}$/.test(queryValue('month'))
    ? queryValue('month')
    : new Date().toISOString().slice(0, 7);
  const by = BILL_KEYS.find((key) => key === queryValue('by')) ?? 'device';
  const query = new URLSearchParams({ month, by });
  const cost = useFetched<Cost>(`/api/cost?${query}`);
  return (
    <main id="main" class="column" tabIndex={-1}>
      <h1>{t('cost')}</h1>
      <p class="hint">{t('cost_note')}</p>
      <div class="tools">
        <div class="field">
          <label for="month">{t('month')}</label>
          <input
            id="month"
            type="month"
            value={month}
            onChange={({ currentTarget }) => setQuery({ month: currentTarget.value })}
          />
        </div>
        <Choice
          label={t('by')}
          options={BILL_KEYS}
          value={by}
          textOf={(key) => t(`by_${key}`)}
          onChange={(next) => setQuery({ by: next })}
        />
        <a class="button" href={`/api/cost.csv?${query}`} download={`cost-${month}-by-${by}.csv`}>
          {t('csv')}
        </a>
      </div>
      <Shown of={cost}>{(shown) => <Lines cost={shown} />}</Shown>
    </main>
  );
}

function Lines({ cost: { lines, total, by } }: { readonly cost: Cost }) {
  return (
    <Report
      label={t('cost')}
      none={t('cost_none')}
      figures={[
        [t('so_far'), t('minutes', { n: Math.round(total.minutes) })],
        ...CONSOLE_BILL_COLUMNS.filter((column) => column !== 'budget_minutes').map(
          (column) =>
            [t(`bill_${column}`), totalText(total[column], BILL_ON_CONSOLE[column].format)] as const,
        ),
      ]}
      heads={[t(`by_${by}`), t('minutes_head'), ...CONSOLE_BILL_COLUMNS.map((column) => t(`bill_${column}`))]}
      lines={lines.map((line) => ({
        key: line.name,
        name: <LineName by={by} line={line} />,
        share: line.minutes,
        first: numberText(line.minutes, 1),
        others: CONSOLE_BILL_COLUMNS.map((column) => cellText(line[column], BILL_ON_CONSOLE[column].format)),
      }))}
    />
  );
}

function totalText(value: number, format: BillFormat): string {
  return format === 'minutes' ? t('minutes', { n: Math.round(value) }) : numberText(value);
}

function cellText(value: number | null, format: BillFormat): string {
  if (value === null || (format === 'exception' && value === 0)) return '';
  return numberText(value, format === 'minutes' ? 1 : 0);
}

function LineName({ by, line }: { readonly by: Cost['by']; readonly line: BillLine }) {
  return (
    <>
      {by === 'device' ? <DeviceLink device={line.name} /> : <Name text={line.name} />}
      {line.warning !== 'none' && <b class="bad"> {t(`warning_${line.warning}`)}</b>}
    </>
  );
}
