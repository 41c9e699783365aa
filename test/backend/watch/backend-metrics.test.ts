import { expect, it } from 'vitest';
import { createFleetView } from '../../../src/backend/fleet/fleet-view.ts';
import { backendFamilies } from '../../../src/backend/watch/backend-metrics.ts';
import { billLine } from '../bill/bill-lines.ts';

it("shows a group's minutes and its budget in seconds", () => {
  const line = billLine('halls', { sessions: 3, minutes: 8.5, forecast_minutes: 20, budget_minutes: 600 });
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
