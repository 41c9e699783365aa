import type { Selection } from '../../protocol/console-fleet.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { createFilter } from '../fleet/fleet-filter.ts';
import { Refusal } from './refusal.ts';

/** Maximum number of devices of one job. */
const MOST_SELECTED = 20_000;

/** The names of selected devices: those that a filter admits now, or a list. @throws Refusal if there is none */
export function selectedDevices(fleet: Fleet, selection: Selection): string[] {
  const names = 'devices' in selection ? listed(fleet, selection.devices) : filtered(fleet, selection);
  if (names.length === 0) throw new Refusal(400, 'invalid', 'no device is selected: change the filter');
  if (names.length > MOST_SELECTED)
    throw new Refusal(400, 'too_many', `at most ${MOST_SELECTED} devices at once: narrow the filter`);
  return names;
}

function listed(fleet: Fleet, devices: readonly string[]): string[] {
  const names = [...new Set(devices)];
  const unknown = names.find((name) => !fleet.devices.has(name));
  if (unknown !== undefined) throw new Refusal(404, 'not_found', `there is no device "${unknown}"`);
  return names;
}

function filtered(fleet: Fleet, { filter, except }: Extract<Selection, { filter: unknown }>): string[] {
  const admits = createFilter(filter);
  const left = new Set(except);
  return [...fleet.devices.values()]
    .filter(({ row, text, name }) => admits(row, text) && !left.has(name))
    .map(({ name }) => name);
}
