import { isTimeZone } from '../protocol/config-hours.ts';

/** The machine's time zone, such as `Europe/Berlin`; null when it has no valid name. */
export function machineTimeZone(): string | null {
  // The engine may return names that it does not accept: `Etc/Unknown` for an empty TZ, undefined for an unknown one.
  const name: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name !== undefined && isTimeZone(name) ? name : null;
}
