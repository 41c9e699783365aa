/** Number of rows rendered before and after the visible ones. */
const MORE = 8;
/** Step (rows) by which the rendered range moves, so that most scroll frames render nothing. */
const STEP = 8;

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The rows to render, of `total` rows of one height. */
export function rangeOf(scrolled: number, height: number, rowPx: number, total: number): Range {
  const first = Math.floor(scrolled / rowPx);
  const last = Math.ceil((scrolled + height) / rowPx);
  return {
    from: Math.max(0, Math.min(Math.floor((first - MORE) / STEP) * STEP, total)),
    to: Math.max(0, Math.min(Math.ceil((last + MORE) / STEP) * STEP, total)),
  };
}

/** Where to scroll so that row `at` is visible; unchanged if it already is. */
export function scrollTo(at: number, scrolled: number, height: number, rowPx: number): number {
  const top = at * rowPx;
  if (top < scrolled) return top;
  return top + rowPx > scrolled + height ? top + rowPx - height : scrolled;
}

/** The current row after a key press; null: the key does not move it. */
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

/** Number of rows requested before and after the rendered ones. */
const MARGIN = 100;
/** With fewer rows left than this, more are requested: at a fast scroll of 40 rows/s, the answer has a second to arrive. */
const NEAR = 50;

/** Rows of the list from `first` up to, not including, `last`. */
export interface Window {
  readonly first: number;
  readonly last: number;
}

/**
 * The window to request; null: the last requested one is enough.
 * @param asked the requested window; its request may be pending
 */
export function windowFor({ from, to }: Range, asked: Window, total: number): Window | null {
  const isEnough =
    asked.first <= Math.max(0, from - NEAR) && asked.last >= Math.min(Math.max(from, total), to + NEAR);
  return isEnough ? null : { first: Math.max(0, from - MARGIN), last: to + MARGIN };
}
