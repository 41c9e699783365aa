/** Rows of a bill with zeros where a test gives nothing, so that a new column changes only this file and its own tests. */
import type { DeviceSum } from '../../../src/ports/store.ts';
import type { BillLine } from '../../../src/protocol/bill.ts';

export const deviceSum = (device: string, more: Partial<DeviceSum> = {}): DeviceSum => ({
  device,
  sessions: 0,
  ms: 0,
  unreported: 0,
  unreportedMs: 0,
  implausible: 0,
  ...more,
});

export const billLine = (name: string, more: Partial<BillLine> = {}): BillLine => ({
  name,
  sessions: 0,
  minutes: 0,
  unreported: 0,
  unreported_minutes_at_most: 0,
  implausible: 0,
  forecast_minutes: 0,
  budget_minutes: null,
  warning: 'none',
  ...more,
});
