import { computed, signal } from '@preact/signals';
import type { FleetFilter, FleetStatus, FleetView, Selection } from '../../../protocol/console-fleet.ts';
import { total } from '../client/stream.ts';
import { queryValue, setQuery } from '../parts/route.ts';

export const STATUSES = [
  'degraded',
  'lost',
  'offline',
  'stopping',
  'unknown',
  'never',
  'idle',
  'ready',
] as const satisfies readonly FleetStatus[];
export const SORTS = ['problems', 'device', 'status', 'version', 'since'] as const;

/** The address as a filter; invalid values are left out. */
export const filter = computed<FleetFilter>(() => {
  const status = STATUSES.filter((name) => queryValue('status').split(',').includes(name));
  const text = (name: 'q' | 'tenant' | 'group' | 'site' | 'version'): object =>
    queryValue(name) === '' ? {} : { [name]: queryValue(name).slice(0, 200) };
  return {
    ...text('q'),
    ...text('tenant'),
    ...text('group'),
    ...text('site'),
    ...text('version'),
    ...(status.length > 0 && { status }),
    ...(queryValue('problem') === '1' && { problem: true }),
  };
});

export const sort = computed<FleetView['sort']>(
  () => SORTS.find((name) => name === queryValue('sort')) ?? 'problems',
);
/** Default order: `since` descends (latest change first), all others ascend. */
export const isDescending = computed(() => (queryValue('descending') === '1') !== (sort.value === 'since'));

export function setFilter(parts: Readonly<Record<string, string>>): void {
  pick(null);
  setQuery(parts);
}

export function toggleStatus(status: FleetStatus): void {
  const now = filter.value.status ?? [];
  const next = now.includes(status) ? now.filter((name) => name !== status) : [...now, status];
  setFilter({ status: next.join(',') });
}

/** `but`: all devices that match the filter, except these. `only`: just these. */
interface Selected {
  readonly but: ReadonlySet<string> | null;
  readonly only: ReadonlySet<string>;
}
const picked = signal<(Selected & { readonly within: string }) | null>(null);
const filterText = computed(() => JSON.stringify(filter.value));

/** Null: no selection. A changed filter, even from a link, clears the selection, because it would select other devices than those shown. */
export const selection = computed<Selected | null>(() =>
  picked.value?.within === filterText.value ? picked.value : null,
);

function pick(next: Selected | null): void {
  picked.value = next && { ...next, within: filterText.value };
}

export const selectedCount = computed(() => {
  if (selection.value === null) return 0;
  const { but, only } = selection.value;
  return but === null ? only.size : Math.max(0, (total.value ?? 0) - but.size);
});

export function isSelected(device: string): boolean {
  if (selection.value === null) return false;
  const { but, only } = selection.value;
  return but === null ? only.has(device) : !but.has(device);
}

export function toggleDevice(device: string): void {
  const { but, only } = selection.value ?? { but: null, only: new Set<string>() };
  const next = new Set(but ?? only);
  if (!next.delete(device)) next.add(device);
  if (but !== null) pick({ but: next, only });
  else pick(next.size === 0 ? null : { but: null, only: next });
}

export function selectAll(isWanted: boolean): void {
  pick(isWanted ? { but: new Set(), only: new Set() } : null);
}

/** The selection in the backend's format. */
export function selectionOf(): Selection | null {
  if (selection.value === null) return null;
  const { but, only } = selection.value;
  return but === null ? { devices: [...only] } : { filter: filter.value, except: [...but] };
}
