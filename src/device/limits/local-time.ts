/** Local time of a time zone, from the tables of the JavaScript engine: the same input gives the same result. */
import { asWall, type WallMs } from '../../protocol/common/time.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** Maximum number of cached formatters: creating one takes a hundred times as long as using it. */
const MOST_FORMATTERS = 8;
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formatters.size >= MOST_FORMATTERS) formatters.clear();
  formatters.set(timeZone, formatter);
  return formatter;
}

/** The local clock time, as milliseconds of a UTC clock with the same display. */
function shownAt(wall: WallMs, timeZone: string): number {
  // `5/4/2026, 09:30:00`: parsing this is faster than `formatToParts`.
  const numbers = formatterOf(timeZone).format(wall).match(/\d+/g)?.map(Number) ?? [];
  const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = numbers;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function offsetAt(wall: WallMs, timeZone: string): number {
  return shownAt(wall, timeZone) - Math.floor(wall / SECOND_MS) * SECOND_MS;
}

/** The local date, as the number of days since 1970-01-01. */
export function localDay(wall: WallMs, timeZone: string): number {
  return Math.floor(shownAt(wall, timeZone) / DAY_MS);
}

/** `2026-05-04` */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** 0 is Sunday. */
export function weekdayOf(day: number): number {
  return new Date(day * DAY_MS).getUTCDay();
}

/**
 * The instant at which local clocks show this time of that day. As in calendars (RFC 5545, 3.3.5), a repeated time means its
 * first occurrence; a skipped time uses the offset before the gap.
 */
export function instantOf(day: number, minutes: number, timeZone: string): WallMs {
  const shown = day * DAY_MS + minutes * MINUTE_MS;
  const fits = (offset: number): boolean => offsetAt(asWall(shown - offset), timeZone) === offset;
  const before = offsetAt(asWall(shown - DAY_MS), timeZone);
  if (fits(before)) return asWall(shown - before);
  const after = offsetAt(asWall(shown + DAY_MS), timeZone);
  return asWall(shown - (fits(after) ? after : before));
}
