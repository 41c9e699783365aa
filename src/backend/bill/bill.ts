/** What a month costs, by device, group or site: sums of the ledger, a forecast, and budgets. */

import type { DeviceSum } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import type { BillKey, BillLine, BillTotal } from '../../protocol/bill.ts';
import { groupsOf, nameOf, siteOf } from '../config/owned-devices.ts';

/** Share of a budget from which the bill warns. */
const WARNING_SHARE = 0.8;
const MS_PER_MINUTE = 60_000;

export interface Month {
  readonly from: number;
  readonly to: number;
}

/** @param text `2026-11`; null if it is not a month. Months are those of UTC. */
export function readMonth(text: string): Month | null {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return null;
  return { from: Date.UTC(Number(year), Number(month) - 1), to: Date.UTC(Number(year), Number(month)) };
}

export function billOf(
  sums: readonly DeviceSum[],
  policy: Pick<BackendConfig, 'groups' | 'devices'>,
  key: BillKey,
  { from, to }: Month,
  now: number,
): BillLine[] {
  const byName = new Map<string, DeviceSum[]>();
  for (const sum of sums) {
    for (const name of namesOf(sum.device, policy, key)) byName.set(name, [...(byName.get(name) ?? []), sum]);
  }
  const passed = Math.min(1, Math.max(0, (now - from) / (to - from)));
  const budgets = new Map(policy.groups.map((group) => [group.name, group.minutesPerMonth ?? null]));
  return [...byName]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, parts]) => {
      const add = (of: (sum: DeviceSum) => number): number =>
        parts.reduce((total, sum) => total + of(sum), 0);
      const minutes = add(({ ms }) => ms) / MS_PER_MINUTE;
      const budget = key === 'group' ? (budgets.get(name) ?? null) : null;
      const share = budget === null ? 0 : minutes / budget;
      const isOpen = parts.some(({ unreportedMs }) => unreportedMs === null);
      return {
        name,
        sessions: add(({ sessions }) => sessions),
        minutes: rounded(minutes),
        unreported: add(({ unreported }) => unreported),
        unreported_minutes_at_most: isOpen
          ? null
          : rounded(add(({ unreportedMs }) => unreportedMs ?? 0) / MS_PER_MINUTE),
        implausible: add(({ implausible }) => implausible),
        forecast_minutes: rounded(passed > 0 ? minutes / passed : 0),
        budget_minutes: budget,
        warning: share >= 1 ? 'over_budget' : share >= WARNING_SHARE ? 'near_budget' : 'none',
      };
    });
}

/** @param lines those of the single devices */
export function totalOf(lines: readonly BillLine[]): BillTotal {
  const add = (of: (line: BillLine) => number): number =>
    rounded(lines.reduce((total, line) => total + of(line), 0));
  const isOpen = lines.some((line) => line.unreported_minutes_at_most === null);
  return {
    sessions: add(({ sessions }) => sessions),
    minutes: add(({ minutes }) => minutes),
    unreported: add(({ unreported }) => unreported),
    unreported_minutes_at_most: isOpen ? null : add((line) => line.unreported_minutes_at_most ?? 0),
    implausible: add(({ implausible }) => implausible),
    forecast_minutes: add((line) => line.forecast_minutes),
  };
}

/** A device counts in every group that it belongs to. */
function namesOf(
  device: string,
  policy: Pick<BackendConfig, 'groups' | 'devices'>,
  key: BillKey,
): readonly string[] {
  if (key === 'device') return [device];
  const who = nameOf(device);
  if (key === 'site') return [siteOf(policy, who) ?? '(no site)'];
  const groups = groupsOf(policy, who).map(({ name }) => name);
  return groups.length > 0 ? [...new Set(groups)] : ['(no group)'];
}

const rounded = (minutes: number): number => Math.round(minutes * 100) / 100;
