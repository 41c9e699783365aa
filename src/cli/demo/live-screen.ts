import { displayWidth, type ScreenRow } from './display-text.ts';

/** The part of a terminal that a screen needs; a `tty.WriteStream` implements it. */
export interface LiveTerminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  /** Whether it supports at least this many colours. */
  hasColors?(count: number): boolean;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** Rows of text at the end of the terminal's output, redrawn in place. */
export interface Screen {
  /** Shows these rows; they must be narrower than the terminal and leave one of its rows free. */
  draw(rows: readonly ScreenRow[], columns: number): void;
  /** Restores the terminal and leaves the last picture below the earlier output. The next picture appears below it. */
  restore(): void;
}

const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
/** Synchronised output: terminals that support it show a frame at once; others ignore it. */
const BEGIN_FRAME = `${ESC}?2026h`;
const END_FRAME = `${ESC}?2026l`;
/** Switches wrapping off: a terminal that draws wider characters cuts the row at its edge, and the other rows stay in place. */
const CUT_ROWS = `${ESC}?7l`;
const WRAP_ROWS = `${ESC}?7h`;
const ENTER_ALTERNATE = `${ESC}?1049h${ESC}H`;
const LEAVE_ALTERNATE = `${ESC}?1049l`;
const HOME = `${ESC}H`;
const CLEAR_TO_RIGHT = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

const up = (rows: number): string => (rows > 0 ? `${ESC}${rows}A` : '');
const down = (rows: number): string => (rows > 0 ? `${ESC}${rows}B` : '');

/**
 * @param isAlternate uses the terminal's alternate screen, for pictures of many rows. Otherwise the scrollback would keep half a
 *   picture each time the terminal becomes smaller
 */
export function createScreen(terminal: LiveTerminal, isAlternate = false): Screen {
  let shown: readonly ScreenRow[] = [];
  let shownColumns = 0;
  let isTaken = false;

  /** Moves to the first row of the picture. */
  const begin = (columns: number): string => (isAlternate ? HOME : `\r${up(heightAt(shown, columns))}`);
  const write = (text: string): void => {
    terminal.write(`${BEGIN_FRAME}${CUT_ROWS}${text}${WRAP_ROWS}${END_FRAME}`);
  };

  return {
    draw(rows, columns) {
      const isSameSize = columns === shownColumns && rows.length === shown.length;
      if (isTaken && isSameSize && rows.every((row, index) => row === shown[index])) return;
      // The terminal may have echoed a key at the cursor, below the picture.
      if (!isTaken) write(`${isAlternate ? ENTER_ALTERNATE : ''}${HIDE_CURSOR}\r${whole(rows)}`);
      else write(`${begin(columns)}${isSameSize ? patch(shown, rows) : whole(rows)}`);
      shown = rows;
      shownColumns = columns;
      isTaken = true;
    },
    restore() {
      if (!isTaken) return;
      isTaken = false;
      // The terminal's state is restored before the last picture, because it is more important.
      const back = `${END_FRAME}${isAlternate ? LEAVE_ALTERNATE : ''}${WRAP_ROWS}${SHOW_CURSOR}\r${CLEAR_BELOW}`;
      const left = isAlternate ? `${CUT_ROWS}${whole(shown)}${WRAP_ROWS}` : '';
      shown = [];
      terminal.write(`${back}${left}`);
    },
  };
}

/** Number of rows after the terminal has wrapped them to a narrower width. */
function heightAt(rows: readonly string[], columns: number): number {
  return rows.reduce((height, row) => height + Math.max(1, Math.ceil(displayWidth(row) / columns)), 0);
}

/** Clears before writing, because a terminal remembers which rows were wrapped. */
function whole(rows: readonly string[]): string {
  return CLEAR_BELOW + rows.map((row) => `${row}\r\n`).join('');
}

/** Rewrites only changed rows. Starts at the first row and ends below the last. */
function patch(before: readonly string[], after: readonly string[]): string {
  let text = '';
  let skipped = 0;
  for (const [index, row] of after.entries()) {
    if (row === before[index]) {
      skipped += 1;
      continue;
    }
    text += `${down(skipped)}${row}${CLEAR_TO_RIGHT}\r\n`;
    skipped = 0;
  }
  return text + down(skipped);
}
