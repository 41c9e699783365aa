/** Which devices a filter admits, and their order. */
import type { FleetFilter, FleetRow, FleetStatus, FleetView } from '../../protocol/console-fleet.ts';

/** How urgently a person should look: lower is more urgent. */
const SEVERITY: Readonly<Record<FleetStatus, number>> = {
  lost: 0,
  degraded: 1,
  unknown: 2,
  offline: 3,
  never: 4,
  stopping: 5,
  idle: 6,
  ready: 7,
};
const PROBLEMS: readonly FleetStatus[] = ['lost', 'degraded', 'unknown'];

export const isProblem = (status: FleetStatus): boolean => PROBLEMS.includes(status);

/** The text that a search examines, in lower case. */
export function searchText(row: FleetRow): string {
  const { device, status, reasons, groups, site, version, lanes } = row;
  const languages = lanes.flatMap(({ id, phase, source, targets }) => [id, phase, source, ...targets]);
  return [device, status, ...reasons, ...groups, site ?? '', version, ...languages].join('\n').toLowerCase();
}

/** @param filter prepared once for many rows */
export function createFilter(filter: FleetFilter): (row: FleetRow, text: string) => boolean {
  const { status, problem, tenant, group, site, version } = filter;
  const words = (filter.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return (row, text) =>
    (status === undefined || status.length === 0 || status.includes(row.status)) &&
    (problem === undefined || row.isProblem === problem) &&
    (tenant === undefined || row.device.startsWith(`${tenant}/`)) &&
    (group === undefined || row.groups.includes(group)) &&
    (site === undefined || row.site === site) &&
    (version === undefined || row.version === version) &&
    words.every((word) => text.includes(word));
}

/** Rows are sorted by this key, and rows with equal keys by name. */
export function sortKey({ device, status, version, since }: FleetRow, sort: FleetView['sort']): string {
  switch (sort) {
    case 'problems':
    case 'status':
      return String(SEVERITY[status]);
    case 'device':
      return device;
    case 'version':
      return version.replace(/\d+/g, (digits) => digits.padStart(6, '0'));
    case 'since':
      return since ?? '';
  }
}
