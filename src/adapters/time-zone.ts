import { isTimeZone } from '../protocol/config-hours.ts';

/** The machine's time zone, such as `Europe/Berlin`; null where it has none that can be named. */
export function machineTimeZone(): string | null {
  // Not always a name that the engine takes back: `Etc/Unknown` for an empty TZ, nothing for one that does not exist.
  const name: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name !== undefined && isTimeZone(name) ? name : null;
}
