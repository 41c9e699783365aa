/** Days that a weekday names without doubt. */
const WEEK = 7;
const DAY_MS = 86_400_000;

/** The day and the time at which the kiosk opens, as people say it: "tomorrow 9:00 AM". */
export function openingText(until: Date, now: Date, language: string): string {
  const days = Math.round((midnight(until) - midnight(now)) / DAY_MS);
  const clock = { hour: 'numeric', minute: '2-digit' } as const;
  if (days < 0 || days >= WEEK) {
    const options = { weekday: 'long', day: 'numeric', month: 'long', ...clock } as const;
    return new Intl.DateTimeFormat(language, options).format(until);
  }
  const day =
    days > 1
      ? new Intl.DateTimeFormat(language, { weekday: 'long' }).format(until)
      : new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(days, 'day');
  return `${day} ${new Intl.DateTimeFormat(language, clock).format(until)}`;
}

/** The start of the day (ms). */
const midnight = (at: Date): number => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
