import type { WallMs } from '../protocol/common/time.ts';
import { isTimeZone } from '../protocol/config-hours.ts';

/** The machine's time zone, such as `Europe/Berlin`; null when it has no valid name. */
export function machineTimeZone(): string | null {
  // The engine may return names that it does not accept: `Etc/Unknown` for an empty TZ, undefined for an unknown one.
  const name: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name !== undefined && isTimeZone(name) ? name : null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MINUTES_PER_HOUR = 60;

/** Minute of the local day, by the machine's time zone. */
export function machineMinute(wall: WallMs): number {
  const date = new Date(wall);
  return date.getHours() * MINUTES_PER_HOUR + date.getMinutes();
}

/**
 * The local date by the machine's time zone, as the number of days since 1970-01-01. It does not load the engine's tables of
 * time zones and formats, as `Intl.DateTimeFormat` does: 8 MB and 10 ms.
 */
export function machineDay(wall: WallMs): number {
  return Math.floor((wall - new Date(wall).getTimezoneOffset() * MINUTE_MS) / DAY_MS);
}
