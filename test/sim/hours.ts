/** Draws opening hours, and has a model of when they are open. Shares no code with the agent. */
import type { Dice } from './dice.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
type Day = (typeof DAYS)[number];

/** Time zones without summer time, and their offset (minutes). */
const ZONES: readonly [Zone, ...Zone[]] = [
  ['UTC', 0],
  ['Asia/Kolkata', 330],
  ['America/Phoenix', -420],
  ['Pacific/Kiritimati', 840],
];
type Zone = readonly [string, number];

export interface DrawnSchedule {
  readonly timeZone: string;
  readonly open: readonly { readonly days: readonly Day[]; readonly from: string; readonly to: string }[];
  readonly closed: readonly string[];
}

const modulo = (value: number, by: number): number => ((value % by) + by) % by;
const dateOf = (day: number): string => new Date(day * DAY_MINUTES * MINUTE_MS).toISOString().slice(0, 10);
const clockOf = (minute: number): string => {
  const of = modulo(Math.round(minute), DAY_MINUTES);
  return `${String(Math.floor(of / 60)).padStart(2, '0')}:${String(of % 60).padStart(2, '0')}`;
};

/** Draws opening hours that change within minutes or stay for hours. @param wall the current time; null: unknown */
export function drawSchedule(dice: Dice, wall: number | null): DrawnSchedule {
  const [timeZone, ahead] = dice.pick(ZONES);
  const local = Math.floor((wall ?? 0) / MINUTE_MS) + ahead;
  const today = Math.floor(local / DAY_MINUTES);
  const soon = dice.whole(1, 4);
  const [from, to] = dice.pick<readonly [number, number]>([
    [-120, soon],
    [-60, soon],
    [soon, 240],
    [300, 400],
    [-60, 600],
    // Opens soon, for a whole day.
    [soon, soon],
  ]);
  const window = (begin: number, end: number) => ({
    days: dice.chance(0.8) ? DAYS : DAYS.filter((_, day) => day !== modulo(today + 4, 7)),
    from: clockOf(local + begin),
    to: clockOf(local + end),
  });
  const open = [window(from, to), ...(dice.chance(0.3) ? [window(to + dice.whole(1, 3), to + 200)] : [])];
  const closed = dice.chance(0.15) ? [dateOf(today)] : dice.chance(0.1) ? [dateOf(today - 1)] : [];
  return { timeZone, open, closed };
}

const minutesOf = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};

const aheadOf = (schedule: DrawnSchedule | null): number =>
  ZONES.find(([name]) => name === schedule?.timeZone)?.[1] ?? 0;

/** The day while the clock is not set. */
export const NO_DAY = 'unknown';

/** The local day of a moment; `NO_DAY` while the clock is not set. */
export function dayBy(schedule: DrawnSchedule | null, wall: number | null): string {
  if (wall === null) return NO_DAY;
  return dateOf(Math.floor((wall / MINUTE_MS + aheadOf(schedule)) / DAY_MINUTES));
}

/** While the clock is not set, the device is open. */
export function isOpenBy(schedule: DrawnSchedule, wall: number | null): boolean {
  if (wall === null) return true;
  const local = wall / MINUTE_MS + aheadOf(schedule);
  const today = Math.floor(local / DAY_MINUTES);
  const minute = local - today * DAY_MINUTES;
  return schedule.open.some(({ days, from, to }) => {
    const [begin, end] = [minutesOf(from), minutesOf(to)];
    // Hours belong to the day on which they begin; 1 January 1970 was a Thursday.
    const isOn = (day: number): boolean =>
      days.includes(DAYS[modulo(day + 4, 7)] ?? 'sun') && !schedule.closed.includes(dateOf(day));
    const length = end > begin ? end - begin : end + DAY_MINUTES - begin;
    const isWithin = (at: number): boolean => at >= begin && at < begin + length;
    return (isOn(today) && isWithin(minute)) || (isOn(today - 1) && isWithin(minute + DAY_MINUTES));
  });
}
