import { useComputed } from '@preact/signals';
import { devicePath } from '../client/api.ts';
import { holdOrder, order, release, rowOf, showView, total } from '../client/stream.ts';
import { go } from '../parts/route.ts';
import { type Window, windowFor } from '../parts/virtual-range.ts';
import { VirtualRows } from '../parts/virtual-rows.tsx';
import { Name, reasonText, Status, Time } from '../parts/words.tsx';
import { cleaned } from '../texts/cleaned.ts';
import { t } from '../texts/text.ts';
import {
  filter,
  isDescending,
  isSelected,
  selectAll,
  selectedCount,
  selection,
  sort,
  toggleDevice,
} from './view.ts';

const COLUMNS = 7;

export function FleetRows() {
  const about = useComputed(() => JSON.stringify([filter.value, sort.value, isDescending.value]));
  const onRange = (from: number, to: number): void => {
    const window = windowFor({ from, to }, asked, total.value ?? 0);
    if (window !== null) show(window);
  };
  return (
    <VirtualRows
      label={t('grid')}
      total={total.value ?? 0}
      columns={COLUMNS}
      about={about.value}
      head={<Head />}
      row={(at) => <Row device={deviceAt(at)} />}
      isSelected={(at) => isSelected(deviceAt(at) ?? '')}
      onRange={onRange}
      onOpen={(at) => {
        const device = deviceAt(at);
        if (device !== undefined) go(`/device/${devicePath(device)}`);
      }}
      onSelect={(at) => {
        const device = deviceAt(at);
        if (device !== undefined) toggleDevice(device);
      }}
      onPointer={holdOrder}
      onPointerGone={release}
    />
  );
}

let asked: Window = { first: 0, last: 0 };

/** Requests a window of the list with the current filter and order. */
export function show(window: Window): void {
  asked = window;
  showView({ filter: filter.value, sort: sort.value, descending: isDescending.value, ...window });
}

function deviceAt(at: number): string | undefined {
  const { first, devices } = order.value;
  return devices[at - first];
}

function Head() {
  const isAll = selection.value?.but?.size === 0 && selectedCount.value > 0;
  return (
    <div role="rowgroup">
      <div class="line head" role="row" aria-rowindex={1}>
        <span class="pick" role="columnheader">
          <input
            type="checkbox"
            aria-label={t('select_all', { n: total.value ?? 0 })}
            checked={isAll}
            ref={(box) => {
              if (box) box.indeterminate = selection.value !== null && !isAll;
            }}
            onChange={(event) => selectAll(event.currentTarget.checked)}
          />
        </span>
        <span role="columnheader">{t('device')}</span>
        <span role="columnheader">{t('status')}</span>
        <span role="columnheader">{t('problem')}</span>
        <span class="optional" role="columnheader">
          {t('languages')}
        </span>
        <span class="optional" role="columnheader">
          {t('site')}
        </span>
        <span class="optional" role="columnheader">
          {t('since')}
        </span>
      </div>
    </div>
  );
}

/** Reads the signal of its device, so that only this row is rendered again when the device changes. */
function Row({ device }: { readonly device: string | undefined }) {
  const row = device === undefined ? undefined : rowOf(device);
  if (device === undefined || row === undefined) {
    return (
      <span role="gridcell" class="quiet">
        …
      </span>
    );
  }
  const [first] = row.reasons;
  const more = row.reasons.length - 1;
  const languages = row.lanes.map(({ source, targets }) => `${source} → ${targets.join(', ')}`).join(' · ');
  return (
    <>
      <span class="pick" role="gridcell">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={t('select_row', { name: device })}
          checked={isSelected(device)}
          onChange={() => toggleDevice(device)}
        />
      </span>
      <span role="gridcell">
        <a href={`/device/${devicePath(device)}`} tabIndex={-1}>
          <Name text={device} />
        </a>
      </span>
      <span role="gridcell">
        <Status status={row.status} />
      </span>
      <span class="why" role="gridcell" title={row.reasons.map(reasonText).join('\n').replaceAll('`', '')}>
        {first !== undefined && reasonText(first).replaceAll('`', '')}
        {more > 0 && ` +${more}`}
        {row.isOffDesired && <span class="warn"> {t('off_desired')}</span>}
      </span>
      <span class="optional" role="gridcell" title={languages}>
        <bdi>{cleaned(languages)}</bdi>
      </span>
      <span class="optional" role="gridcell">
        {row.site !== null && <Name text={row.site} />}
      </span>
      <span class="optional" role="gridcell">
        <Time at={row.since} />
      </span>
    </>
  );
}
