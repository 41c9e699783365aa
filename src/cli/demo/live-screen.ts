import { displayWidth, type ScreenRow } from './display-text.ts';

/** What a screen needs of a terminal; a `tty.WriteStream` is one. */
export interface LiveTerminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  /** Whether it has at least this many colours. */
  hasColors?(count: number): boolean;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** Rows of text at the end of what a terminal shows, drawn over and over in place. */
export interface Screen {
  /** Shows these rows; they must be narrower than the terminal and leave one of its rows free. */
  draw(rows: readonly ScreenRow[], columns: number): void;
  /** Leaves what was shown last below what was there before, and gives the terminal back; what is drawn next stands below it. */
  restore(): void;
}

const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
/** A terminal that knows it shows a frame whole; one that does not ignores it. */
const BEGIN_FRAME = `${ESC}?2026h`;
const END_FRAME = `${ESC}?2026l`;
/** Where terminals do not agree on a character's width, a row is cut at the edge and does not move the others. */
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
 * @param isAlternate draws on the terminal's alternate screen, for many rows: of those that a terminal becoming smaller pushes out
 *   at the top, its scrollback would keep half a picture for each new size
 */
export function createScreen(terminal: LiveTerminal, isAlternate = false): Screen {
  let shown: readonly ScreenRow[] = [];
  let shownColumns = 0;
  let isTaken = false;

  /** To the first row of the picture. */
  const begin = (columns: number): string => (isAlternate ? HOME : `\r${up(heightAt(shown, columns))}`);
  const write = (text: string): void => {
    terminal.write(`${BEGIN_FRAME}${CUT_ROWS}${text}${WRAP_ROWS}${END_FRAME}`);
  };

  return {
    draw(rows, columns) {
      const isSameSize = columns === shownColumns && rows.length === shown.length;
      if (isTaken && isSameSize && rows.every((row, index) => row === shown[index])) return;
      // A key may have been echoed at the cursor, which rests at the start of the row below the picture.
      if (!isTaken) write(`${isAlternate ? ENTER_ALTERNATE : ''}${HIDE_CURSOR}\r${whole(rows)}`);
      else write(`${begin(columns)}${isSameSize ? patch(shown, rows) : whole(rows)}`);
      shown = rows;
      shownColumns = columns;
      isTaken = true;
    },
    restore() {
      if (!isTaken) return;
      isTaken = false;
      // The terminal's own state first: its last picture is worth less.
      const back = `${END_FRAME}${isAlternate ? LEAVE_ALTERNATE : ''}${WRAP_ROWS}${SHOW_CURSOR}\r${CLEAR_BELOW}`;
      const left = isAlternate ? `${CUT_ROWS}${whole(shown)}${WRAP_ROWS}` : '';
      shown = [];
      terminal.write(`${back}${left}`);
    },
  };
}

/** Terminals break rows again when they become narrower: how many there are then. */
function heightAt(rows: readonly string[], columns: number): number {
  return rows.reduce((height, row) => height + Math.max(1, Math.ceil(displayWidth(row) / columns)), 0);
}

/** Cleared first, not only written over: a terminal remembers of a row that it goes on in the next one. */
function whole(rows: readonly string[]): string {
  return CLEAR_BELOW + rows.map((row) => `${row}\r\n`).join('');
}

/** From the first row to the row below the last, writing only what differs. */
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
