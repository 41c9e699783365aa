/** Rows before and after the visible ones that exist already. */
const MORE = 8;
/** The rows change by this many at a time: most frames of a scroll paint nothing anew. */
const STEP = 8;

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The rows that exist in the page, of `total` rows of one height. */
export function rangeOf(scrolled: number, height: number, rowPx: number, total: number): Range {
  const first = Math.floor(scrolled / rowPx);
  const last = Math.ceil((scrolled + height) / rowPx);
  return {
    from: Math.max(0, Math.min(Math.floor((first - MORE) / STEP) * STEP, total)),
    to: Math.max(0, Math.min(Math.ceil((last + MORE) / STEP) * STEP, total)),
  };
}

/** Where to scroll so that row `at` is visible; the same place, if it is. */
export function scrollTo(at: number, scrolled: number, height: number, rowPx: number): number {
  const top = at * rowPx;
  if (top < scrolled) return top;
  return top + rowPx > scrolled + height ? top + rowPx - height : scrolled;
}

/** The row after a key; null: the key moves nothing. */
export function moved(key: string, at: number, total: number, page: number): number | null {
  const to = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: total - 1,
  }[key];
  if (to === undefined || total === 0) return null;
  return Math.max(0, Math.min(to, total - 1));
}

/** Rows that are asked for beyond those that exist, before and after. */
const MARGIN = 100;
/** Fewer left: the next ones are asked for. At a quick scroll of 40 rows a second the answer has a second to arrive. */
const NEAR = 50;

/** Rows of the list from `first` up to, not including, `last`. */
export interface Window {
  readonly first: number;
  readonly last: number;
}

/**
 * The window to ask for; null: the one that was asked for last is enough.
 * @param asked the requested window; its request may be pending
 */
export function windowFor({ from, to }: Range, asked: Window, total: number): Window | null {
  const isEnough =
    asked.first <= Math.max(0, from - NEAR) && asked.last >= Math.min(Math.max(from, total), to + NEAR);
  return isEnough ? null : { first: Math.max(0, from - MARGIN), last: to + MARGIN };
}
