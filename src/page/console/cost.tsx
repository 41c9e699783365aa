import type { Cost, CostLine } from '../../protocol/console-owner.ts';
import { Shown, useFetched } from './parts/fetched.tsx';
import { Table } from './parts/table.tsx';
import { DeviceLink, Name } from './parts/words.tsx';
import { queryValue, setQuery } from './route.ts';
import { numberText, t } from './text.ts';

const KEYS = ['device', 'group', 'site'] as const;

/** What a month costs. */
export function CostPage() {
  const month = /^\d{4}-\d{2}$/.test(queryValue('month'))
    ? queryValue('month')
    : new Date().toISOString().slice(0, 7);
  const by = KEYS.find((key) => key === queryValue('by')) ?? 'device';
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
        <select
          aria-label={t('by')}
          value={by}
          onChange={({ currentTarget }) => setQuery({ by: currentTarget.value })}
        >
          {KEYS.map((key) => (
            <option key={key} value={key}>
              {t(`by_${key}`)}
            </option>
          ))}
        </select>
        <a class="button" href={`/api/cost.csv?${query}`} download={`cost-${month}-by-${by}.csv`}>
          {t('csv')}
        </a>
      </div>
      <Shown of={cost}>{(shown) => <Lines cost={shown} />}</Shown>
    </main>
  );
}

function Lines({ cost: { lines, total, by } }: { readonly cost: Cost }) {
  const most = Math.max(1, ...lines.map(({ minutes }) => minutes));
  return (
    <>
      <div class="sheet row figures">
        <Figure name={t('so_far')} value={t('minutes', { n: Math.round(total.minutes) })} />
        <Figure name={t('forecast')} value={t('minutes', { n: Math.round(total.forecastMinutes) })} />
        <Figure name={t('sessions')} value={numberText(total.sessions)} />
        <Figure name={t('unreported')} value={numberText(total.unreported)} />
      </div>
      {lines.length === 0 ? (
        <p class="sheet empty">{t('cost_none')}</p>
      ) : (
        <Table
          label={t('cost')}
          heads={[
            t(`by_${by}`),
            { text: t('minutes_head'), kind: 'number' },
            { text: t('share'), kind: 'optional' },
            { text: t('forecast'), kind: 'number' },
            { text: t('budget'), kind: 'number' },
            { text: t('sessions'), kind: 'number' },
            { text: t('unreported'), kind: 'number' },
          ]}
        >
          {lines.map((line) => (
            <Line key={line.name} line={line} by={by} most={most} />
          ))}
        </Table>
      )}
    </>
  );
}

function Line({
  line,
  by,
  most,
}: {
  readonly line: CostLine;
  readonly by: Cost['by'];
  readonly most: number;
}) {
  return (
    <tr>
      <td>
        {by === 'device' ? <DeviceLink device={line.name} /> : <Name text={line.name} />}
        {line.warning !== 'none' && <b class="bad"> {t(`warning_${line.warning}`)}</b>}
      </td>
      <td class="number">{numberText(line.minutes, 1)}</td>
      <td class="optional bar">
        <meter min={0} max={most} value={line.minutes} aria-hidden="true" />
      </td>
      <td class="number">{numberText(line.forecastMinutes, 1)}</td>
      <td class="number">{line.budgetMinutes === null ? '' : numberText(line.budgetMinutes)}</td>
      <td class="number">{numberText(line.sessions)}</td>
      <td class="number">{line.unreported === 0 ? '' : numberText(line.unreported)}</td>
    </tr>
  );
}

export function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <p class="figure">
      <b>{value}</b> <span class="quiet">{name}</span>
    </p>
  );
}
