/**
 * Whether a device is online, judged by its messages. Its retained status alone proves nothing: a broker that loses power together
 * with the device keeps `ready` and publishes no will.
 */

/** Silence after which a device counts as lost (ms): three times the interval of `health`. */
export const SILENT_AFTER_MS = 180_000;

const CONNECTED: readonly string[] = ['ready', 'idle', 'degraded', 'stopping'];

/** Whether a device with this status claims to be connected. */
export const claimsConnection = (status: string): boolean => CONNECTED.includes(status);

/**
 * @param heardAt time of the device's last message that was not retained; null: none yet
 * @param listeningSince since when this program has received all of the device's messages; null: it does not receive all
 */
export function isSilent(heardAt: number | null, listeningSince: number | null, now: number): boolean {
  if (listeningSince === null) return false;
  return now - Math.max(heardAt ?? listeningSince, listeningSince) >= SILENT_AFTER_MS;
}
