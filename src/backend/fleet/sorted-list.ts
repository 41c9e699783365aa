/** The devices of one filter in one order, kept up to date. Changes are merged in; the whole list is never sorted again. */
import type { FleetRow, FleetView } from '../../protocol/console-fleet.ts';
import { createFilter, sortKey } from './fleet-filter.ts';

/** A device in a list: the object stays the same, its row changes. */
export interface Listed {
  readonly name: string;
  readonly row: FleetRow;
  readonly text: string;
}

export interface SortedList<T extends Listed> {
  readonly total: number;
  window(first: number, last: number): readonly T[];
  all(): readonly T[];
  /** @param changed devices that have changed, are new, or (`isGone`) no longer exist */
  update(changed: Iterable<T>, isGone: (entry: T) => boolean): void;
}

export function createSortedList<T extends Listed>(
  { filter, sort, descending }: Pick<FleetView, 'filter' | 'sort' | 'descending'>,
  entries: Iterable<T>,
): SortedList<T> {
  const admits = createFilter(filter);
  const keys = new Map<T, string>();
  const sign = descending ? -1 : 1;
  const compare = (one: T, other: T): number => {
    const [a = '', b = ''] = [keys.get(one), keys.get(other)];
    if (a !== b) return a < b ? -sign : sign;
    return one.name < other.name ? -1 : 1;
  };
  let sorted: T[] = [];

  const list: SortedList<T> = {
    get total() {
      return sorted.length;
    },
    window: (first, last) => sorted.slice(first, last),
    all: () => sorted,
    update(changed, isGone) {
      const moved = new Set<T>();
      const placed: [T, string][] = [];
      for (const entry of changed) {
        const before = keys.get(entry);
        const isIn = !isGone(entry) && admits(entry.row, entry.text);
        const key = isIn ? sortKey(entry.row, sort) : undefined;
        if (key === before) continue;
        if (before !== undefined) moved.add(entry);
        if (key !== undefined) placed.push([entry, key]);
        keys.delete(entry);
      }
      if (moved.size === 0 && placed.length === 0) return;
      const rest = moved.size === 0 ? sorted : sorted.filter((entry) => !moved.has(entry));
      for (const [entry, key] of placed) keys.set(entry, key);
      const added = placed.map(([entry]) => entry).sort(compare);
      sorted = merge(rest, added, compare);
    },
  };
  list.update(entries, () => false);
  return list;
}

function merge<T>(one: readonly T[], other: readonly T[], compare: (a: T, b: T) => number): T[] {
  if (other.length === 0) return [...one];
  const result: T[] = [];
  let at = 0;
  for (const entry of one) {
    for (let next = other[at]; next !== undefined && compare(next, entry) < 0; next = other[at]) {
      result.push(next);
      at += 1;
    }
    result.push(entry);
  }
  for (const entry of other.slice(at)) result.push(entry);
  return result;
}
