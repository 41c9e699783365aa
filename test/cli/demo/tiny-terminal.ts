import { EventEmitter } from 'node:events';
import { displayWidth } from '../../../src/cli/demo/display-text.ts';
import type { LiveTerminal } from '../../../src/cli/demo/live-screen.ts';

interface Line {
  cells: string[];
  /** The text continues in the next row, because it was too wide for the terminal. */
  wraps: boolean;
}

const ESCAPE = '\u001b';
const segmenter = new Intl.Segmenter();

const blank = (): Line => ({ cells: [], wraps: false });

/**
 * A minimal terminal for a live view; an unknown escape sequence is an error. It rewraps lines when its width changes,
 * like most terminals. Wide characters take two cells.
 */
export class TinyTerminal extends EventEmitter implements LiveTerminal {
  columns: number;
  rows: number;
  isCursorVisible = true;
  wrapsRows = true;
  /** All writes, unchanged. */
  readonly writes: string[] = [];
  private lines: Line[] = [blank()];
  private top = 0;
  private row = 0;
  private column = 0;
  /** Content below the alternate screen. */
  private covered: { lines: Line[]; top: number; row: number; column: number } | null = null;

  constructor(columns = 80, rows = 24) {
    super();
    this.columns = columns;
    this.rows = rows;
  }

  hasColors(): boolean {
    return false;
  }

  write(text: string): boolean {
    this.writes.push(text);
    this.show(text);
    return true;
  }

  /** Text that the keyboard echoes or another program prints. */
  show(text: string): void {
    for (const [index, piece] of text.split(ESCAPE).entries()) {
      const sequence = index === 0 ? null : /^\[([?\d;]*)([A-Za-z])/.exec(piece);
      if (index > 0 && sequence === null) throw new Error(`unknown sequence ${JSON.stringify(piece)}`);
      if (sequence !== null) this.obey(sequence[1] ?? '', sequence[2] ?? '');
      for (const { segment } of segmenter.segment(piece.slice(sequence?.[0].length ?? 0))) {
        // The two characters of a line break count as one.
        for (const sign of segment === '\r\n' ? segment : [segment]) this.put(sign);
      }
    }
  }

  /** The visible rows, without trailing blanks. */
  get screen(): string[] {
    return this.lines.slice(this.top).map(({ cells }) => cells.join('').trimEnd());
  }

  /** The scrollback. */
  get history(): string[] {
    const lines = this.covered?.lines ?? this.lines;
    return lines.slice(0, this.covered?.top ?? this.top).map(({ cells }) => cells.join('').trimEnd());
  }

  get cursor(): { row: number; column: number } {
    return { row: this.row - this.top, column: this.column };
  }

  resize(columns: number, rows: number): void {
    this.reflow(columns);
    this.columns = columns;
    this.rows = rows;
    this.scroll();
    this.emit('resize');
  }

  private line(row: number): Line {
    while (this.lines.length <= row) this.lines.push(blank());
    return this.lines[row] ?? blank();
  }

  private scroll(): void {
    this.line(this.row);
    this.top = Math.max(this.top, this.row - this.rows + 1);
  }

  private put(character: string): void {
    if (character === '\r') this.column = 0;
    else if (character === '\n') {
      this.row += 1;
      this.scroll();
    } else if (/\p{Cc}/u.test(character)) throw new Error(`control character ${JSON.stringify(character)}`);
    else this.print(character);
  }

  private print(character: string): void {
    const width = displayWidth(character);
    if (this.column + width > this.columns) {
      if (!this.wrapsRows) return;
      this.line(this.row).wraps = true;
      this.row += 1;
      this.column = 0;
      this.scroll();
    }
    const { cells } = this.line(this.row);
    while (cells.length < this.column) cells.push(' ');
    cells[this.column] = character;
    if (width === 2) cells[this.column + 1] = '';
    this.column += width;
  }

  private obey(parameters: string, command: string): void {
    const count = parameters === '' ? 1 : Number(parameters);
    if (command === 'A') this.row = Math.max(this.top, this.row - count);
    else if (command === 'H' && parameters === '') {
      this.row = this.top;
      this.column = 0;
    } else if (command === 'B') {
      this.row = Math.min(this.top + this.rows - 1, this.row + count);
      this.line(this.row);
    } else if (command === 'K' && parameters === '') this.line(this.row).cells.length = this.column;
    else if (command === 'J' && parameters === '') {
      this.line(this.row).cells.length = this.column;
      this.line(this.row).wraps = false;
      this.lines.length = this.row + 1;
    } else this.setMode(parameters, command);
  }

  private setMode(parameters: string, command: string): void {
    if (command !== 'h' && command !== 'l') throw new Error(`unknown sequence ${parameters}${command}`);
    const isOn = command === 'h';
    if (parameters === '?25') this.isCursorVisible = isOn;
    else if (parameters === '?7') this.wrapsRows = isOn;
    else if (parameters === '?1049') this.alternate(isOn);
    else if (parameters !== '?2026') throw new Error(`unknown mode ${parameters}`);
  }

  private alternate(isOn: boolean): void {
    const { lines, top, row, column } = this;
    if (isOn && this.covered === null) {
      this.covered = { lines, top, row, column };
      Object.assign(this, { lines: [blank()], top: 0, row: 0, column: 0 });
    } else if (!isOn && this.covered !== null) {
      Object.assign(this, this.covered);
      this.covered = null;
      this.scroll();
    }
  }

  /** Rewraps all lines to the new width; the cursor stays in its line. */
  private reflow(columns: number): void {
    const whole: { cells: string[]; hasCursor: boolean; isTop: boolean }[] = [];
    let goesOn = false;
    for (const [row, line] of this.lines.entries()) {
      const last = whole.at(-1);
      const place = { hasCursor: row === this.row, isTop: row === this.top };
      if (goesOn && last !== undefined) {
        last.cells.push(...line.cells);
        last.hasCursor ||= place.hasCursor;
      } else whole.push({ cells: [...line.cells], ...place });
      goesOn = line.wraps;
    }
    this.lines = [];
    for (const { cells, hasCursor, isTop } of whole) {
      if (isTop) this.top = this.lines.length;
      for (let at = 0; at === 0 || at < cells.length; at += columns) {
        this.lines.push({ cells: cells.slice(at, at + columns), wraps: at + columns < cells.length });
      }
      if (hasCursor) this.row = this.lines.length - 1;
    }
  }
}
