/** Whether a device is connected, as far as its messages show. */
import type { FleetStatus } from '../../../protocol/console-fleet.ts';

const CONNECTED: readonly FleetStatus[] = ['ready', 'idle', 'degraded', 'stopping'];

/** Whether a device with this status has published that it is connected. */
export const claimsConnection = (status: FleetStatus): boolean => CONNECTED.includes(status);
