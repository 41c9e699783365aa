import { expect, it } from 'vitest';
import { createFleetView } from '../../../src/backend/fleet/fleet-view.ts';
import { backendFamilies } from '../../../src/backend/watch/backend-metrics.ts';

it("shows a group's minutes and its budget in seconds", () => {
  const line = {
    name: 'halls',
    sessions: 3,
    minutes: 8.5,
    unreported: 0,
    unreported_minutes_at_most: 0,
    implausible: 0,
    forecast_minutes: 20,
    budget_minutes: 600,
    warning: 'none',
  } as const;
  const families = backendFamilies({
    isConnected: true,
    followsFleet: true,
    hasStore: true,
    view: createFleetView(),
    budgets: [line],
  });
  const samplesOf = (name: string) => families.find((family) => family.name === name)?.samples;
  const labels = { group: 'halls' };
  expect(samplesOf('dragoman_group_month_seconds')).toEqual([{ labels, value: 510 }]);
  expect(samplesOf('dragoman_group_budget_seconds')).toEqual([{ labels, value: 36_000 }]);
});
