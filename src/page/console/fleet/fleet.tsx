import { useEffect } from 'preact/hooks';
import type { FleetCounts } from '../../../protocol/console-fleet.ts';
import { includesRole } from '../../../protocol/console-routes.ts';
import { me } from '../client/api.ts';
import { counts, facets, followDevice, total } from '../client/stream.ts';
import { queryValue } from '../parts/route.ts';
import { cleaned } from '../texts/cleaned.ts';
import { t } from '../texts/text.ts';
import { Bulk } from './bulk.tsx';
import { Calls } from './calls.tsx';
import { FleetRows, show } from './fleet-rows.tsx';
import { filter, isDescending, SORTS, STATUSES, selection, setFilter, sort, toggleStatus } from './view.ts';

const FIRST_ROWS = 40;
const TYPING_MS = 250;

/** The page of all devices, problems first. */
export function Fleet() {
  useEffect(() => followDevice(null), []);
  const asked = JSON.stringify([filter.value, sort.value, isDescending.value]);
  useEffect(() => show({ first: 0, last: FIRST_ROWS + 60 }), [asked]);
  const mayAct = me.value ? includesRole(me.value.role, 'operator') : false;
  return (
    <main id="main" class="full" tabIndex={-1}>
      <h1 class="unseen">{t('fleet')}</h1>
      {counts.value === null ? (
        <p class="sheet empty">{t('connecting')}</p>
      ) : (
        <>
          <Calls mayAnswer={mayAct} />
          <Counts of={counts.value} />
          <Tools />
          {selection.value !== null && mayAct && <Bulk />}
          {total.value === 0 ? (
            <p class="sheet empty">{t(counts.value.total === 0 ? 'no_devices_yet' : 'no_devices')}</p>
          ) : (
            <FleetRows />
          )}
        </>
      )}
    </main>
  );
}

function Counts({ of: { total: all, problems, byStatus } }: { readonly of: FleetCounts }) {
  const now = filter.value.status ?? [];
  const isProblem = filter.value.problem === true;
  return (
    <div class="counts" role="group" aria-label={t('counts')}>
      <button
        type="button"
        aria-pressed={now.length === 0 && !isProblem}
        onClick={() => setFilter({ status: '', problem: '' })}
      >
        {t('all')} <b>{all}</b>
      </button>
      <button
        type="button"
        class={problems > 0 ? 'bad' : ''}
        aria-pressed={isProblem}
        onClick={() => setFilter({ problem: isProblem ? '' : '1' })}
      >
        {t('problems')} <b>{problems}</b>
      </button>
      {STATUSES.filter((status) => byStatus[status] > 0 || now.includes(status)).map((status) => (
        <button
          key={status}
          type="button"
          aria-pressed={now.includes(status)}
          onClick={() => toggleStatus(status)}
        >
          <span class={`status ${status}`}>{t(`status_${status}`)}</span> <b>{byStatus[status]}</b>
        </button>
      ))}
    </div>
  );
}

let typing = 0;

function Tools() {
  const known = facets.value;
  return (
    <search class="tools">
      <input
        type="search"
        aria-label={t('search')}
        placeholder={t('search')}
        defaultValue={queryValue('q')}
        maxLength={200}
        onInput={({ currentTarget }) => {
          clearTimeout(typing);
          typing = window.setTimeout(() => setFilter({ q: currentTarget.value.trim() }), TYPING_MS);
        }}
      />
      <Choice name="tenant" all={t('tenant_all')} from={known?.tenants ?? []} />
      <Choice
        name="group"
        all={t('group_all')}
        from={(known?.groups ?? []).map(({ name }) => name)}
        label={(name) => {
          const group = known?.groups.find((one) => one.name === name);
          return group ? `${name} (${group.problems > 0 ? `${group.problems}/` : ''}${group.devices})` : name;
        }}
      />
      <Choice name="site" all={t('site_all')} from={known?.sites ?? []} />
      <Choice name="version" all={t('version_all')} from={known?.versions ?? []} />
      <select
        aria-label={t('sort')}
        value={sort.value}
        onChange={(event) => setFilter({ sort: event.currentTarget.value, descending: '' })}
      >
        {SORTS.map((name) => (
          <option key={name} value={name}>
            {t(`sort_${name}`)}
          </option>
        ))}
      </select>
    </search>
  );
}

/** A filter with few values; not shown when there is nothing to choose. */
function Choice({
  name,
  all,
  from,
  label = (value) => value,
}: {
  readonly name: string;
  readonly all: string;
  readonly from: readonly string[];
  label?(value: string): string;
}) {
  const value = queryValue(name);
  const values = value === '' || from.includes(value) ? from : [value, ...from];
  if (values.length < 2 && value === '' && name !== 'group') return null;
  return (
    <select
      aria-label={all}
      value={value}
      onChange={(event) => setFilter({ [name]: event.currentTarget.value })}
    >
      <option value="">{all}</option>
      {values.map((one) => (
        <option key={one} value={one}>
          {cleaned(label(one)).slice(0, 60)}
        </option>
      ))}
    </select>
  );
}
