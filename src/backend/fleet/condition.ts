import type { DeviceView } from './fleet-view.ts';

/** The condition of a device or a group, as in an alert. */
export type Condition = 'fine' | 'degraded' | 'lost' | 'over_budget';

/** A device that was switched off or left idle on purpose is fine. */
export function conditionOf(device: DeviceView | undefined): Condition {
  if (device?.status === 'lost') return 'lost';
  if (device?.status !== 'degraded') return 'fine';
  return device.reasons.every((reason) => reason === 'budget') ? 'over_budget' : 'degraded';
}
