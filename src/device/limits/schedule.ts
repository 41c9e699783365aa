import { asWall, type WallMs } from '../../protocol/common/time.ts';
import { type Schedule, WEEKDAYS } from '../../protocol/config-hours.ts';
import { dateOf, instantOf, localDay, weekdayOf } from './local-time.ts';

/** Whether a schedule is open, and until when. */
export interface Opening {
  readonly isOpen: boolean;
  /** When the schedule opens or closes next; null: not within weeks, or never. */
  readonly changesAt: WallMs | null;
}

/** Number of days to search for the end of adjacent opening hours: a week without a gap counts as always open. */
const LOOK_AHEAD_DAYS = 8;

interface Window {
  readonly from: WallMs;
  readonly to: WallMs;
}

/** The schedule's state at a moment. Null: always open. */
export function openingAt(schedule: Schedule | null, wall: WallMs): Opening {
  if (schedule === null) return { isOpen: true, changesAt: null };
  const today = localDay(wall, schedule.timeZone);
  const closed = new Set(schedule.closed);
  // Yesterday's hours may pass midnight.
  let end = wall;
  for (let day = today - 1; day <= today + LOOK_AHEAD_DAYS; day++) {
    const windows = windowsOn(day, schedule, closed).toSorted((one, other) => one.from - other.from);
    const before = end;
    for (const { from, to } of windows) if (from <= end && to > end) end = to;
    // Opening hours last at most a day: if those of this day do not extend the end, later ones cannot.
    if (end === before && day >= today) break;
  }
  if (end === wall) return { isOpen: false, changesAt: opensAt(schedule, closed, today, wall) };
  return { isOpen: true, changesAt: localDay(end, schedule.timeZone) > today + LOOK_AHEAD_DAYS ? null : end };
}

/**
 * Time over which a fleet opens (ms): otherwise all its kiosks would request tokens in one second. Shorter than any opening or
 * closed period.
 */
export const OPENING_SPREAD_MS = 60_000;

/** How long after the opening time this device opens (ms, whole seconds): always the same for its name. */
export function openingDelayMs(name: string): number {
  // FNV-1a: names that differ in one digit get very different delays.
  let hash = 0x811c9dc5;
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return (hash * 1000) % OPENING_SPREAD_MS;
}

/** The schedule's state for a device that opens a little after the opening time, and closes at the closing time. */
export function delayedOpeningAt(schedule: Schedule | null, wall: WallMs, delayMs: number): Opening {
  const opening = openingAt(schedule, wall);
  // If the schedule was already open `delayMs` ago, the delay is over. Without a schedule there is none.
  const since = opening.isOpen ? openingAt(schedule, asWall(wall - delayMs)) : opening;
  if (since.isOpen) return opening;
  const { changesAt } = since;
  return { isOpen: false, changesAt: changesAt === null ? null : asWall(changesAt + delayMs) };
}

function opensAt(
  schedule: Schedule,
  closed: ReadonlySet<string>,
  today: number,
  wall: WallMs,
): WallMs | null {
  const lastDay = today + LOOK_AHEAD_DAYS + closed.size;
  for (let day = today; day <= lastDay; day++) {
    const starts = windowsOn(day, schedule, closed).flatMap(({ from }) => (from > wall ? [from] : []));
    if (starts.length > 0) return asWall(Math.min(...starts));
  }
  return null;
}

/** The opening hours that begin on a day; they belong to it even if they run past midnight. */
function windowsOn(day: number, { open, timeZone }: Schedule, closed: ReadonlySet<string>): Window[] {
  if (closed.has(dateOf(day))) return [];
  const name = WEEKDAYS[weekdayOf(day)];
  return open.flatMap(({ days, from, to }) => {
    if (!days.some((one) => one === name)) return [];
    const [begins, ends] = [minutesOf(from), minutesOf(to)];
    const window = {
      from: instantOf(day, begins, timeZone),
      to: instantOf(ends <= begins ? day + 1 : day, ends, timeZone),
    };
    // A clock change may skip the whole period.
    return window.to > window.from ? [window] : [];
  });
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
