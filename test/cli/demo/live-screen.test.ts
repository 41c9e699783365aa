import { describe, expect, it } from 'vitest';
import { plainRow } from '../../../src/cli/demo/display-text.ts';
import { createScreen, type LiveTerminal } from '../../../src/cli/demo/live-screen.ts';
import { TinyTerminal } from './tiny-terminal.ts';

const FRAME = ['one', 'two', 'three'];

/** A screen of rows without colours. */
function screenOn(terminal: LiveTerminal, isAlternate = false) {
  const { draw, restore } = createScreen(terminal, isAlternate);
  return { restore, draw: (rows: readonly string[], columns: number) => draw(rows.map(plainRow), columns) };
}

describe('screen', () => {
  it('draws below the existing output and hides the cursor', () => {
    const terminal = new TinyTerminal();
    terminal.show('$ npm run demo\r\n');
    screenOn(terminal).draw(FRAME, 80);
    expect(terminal.screen).toEqual(['$ npm run demo', ...FRAME, '']);
    expect(terminal.isCursorVisible).toBe(false);
  });

  it('writes only the rows that differ, each frame in one piece', () => {
    const terminal = new TinyTerminal();
    const screen = screenOn(terminal);
    screen.draw(FRAME, 80);
    screen.draw(['one', 'zwei', 'three'], 80);
    expect(terminal.screen).toEqual(['one', 'zwei', 'three', '']);
    expect(terminal.writes).toHaveLength(2);
    expect(terminal.writes[1]).not.toMatch(/one|three/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks of a frame
    expect(terminal.writes[1]).toMatch(/^\u001b\[\?2026h.*\u001b\[\?2026l$/s);
  });

  it('writes nothing when no row differs', () => {
    const terminal = new TinyTerminal();
    const screen = screenOn(terminal);
    screen.draw(FRAME, 80);
    screen.draw([...FRAME], 80);
    expect(terminal.writes).toHaveLength(1);
  });

  it('clears the rest of a longer row, and echoed keys below the picture', () => {
    const terminal = new TinyTerminal();
    const screen = screenOn(terminal);
    screen.draw(['a long row', 'two', 'three'], 80);
    terminal.show('^C');
    screen.draw(['a', 'two', '3'], 80);
    expect(terminal.screen.slice(0, 3)).toEqual(['a', 'two', '3']);
    screen.restore();
    expect(terminal.screen).toEqual(['a', 'two', '3', '']);
  });

  it('stays in place at the bottom of the terminal', () => {
    const terminal = new TinyTerminal(80, 4);
    terminal.show('a\r\nb\r\nc\r\n');
    const screen = screenOn(terminal);
    for (const last of ['x', 'y', 'z']) screen.draw(['one', 'two', last], 80);
    expect(terminal.screen).toEqual(['one', 'two', 'z', '']);
    expect(terminal.history).toEqual(['a', 'b', 'c']);
  });

  it('redraws its own rows when the terminal becomes narrower and wider again', () => {
    const terminal = new TinyTerminal(40, 20);
    terminal.show('before\r\n');
    const screen = screenOn(terminal);
    const rows = (width: number): string[] => ['-'.repeat(width - 1), 'short', '日'.repeat(width / 2 - 1)];
    screen.draw(rows(40), 40);
    for (const width of [30, 12, 20, 40, 24]) {
      terminal.resize(width, 20);
      screen.draw(rows(width), width);
      expect(terminal.screen).toEqual(['before', ...rows(width), '']);
    }
  });

  it('keeps the other rows in place when a row is wider than measured', () => {
    const terminal = new TinyTerminal(10, 10);
    screenOn(terminal).draw(['x'.repeat(30), 'two'], 10);
    expect(terminal.screen).toEqual(['x'.repeat(10), 'two', '']);
  });

  it('uses fewer rows when there is less to show', () => {
    const terminal = new TinyTerminal();
    const screen = screenOn(terminal);
    screen.draw(FRAME, 80);
    screen.draw(['one'], 80);
    expect(terminal.screen).toEqual(['one', '']);
  });

  it('restores the terminal, also when called repeatedly', () => {
    const terminal = new TinyTerminal();
    const screen = screenOn(terminal);
    screen.restore();
    expect(terminal.writes).toEqual([]);
    screen.draw(FRAME, 80);
    screen.restore();
    screen.restore();
    expect(terminal.writes).toHaveLength(2);
    expect(terminal).toMatchObject({ isCursorVisible: true, wrapsRows: true });
    expect(terminal.screen).toEqual([...FRAME, '']);
    expect(terminal.cursor).toEqual({ row: 3, column: 0 });
  });

  it('continues below the earlier picture after a restore', () => {
    const terminal = new TinyTerminal();
    const screen = screenOn(terminal);
    screen.draw(FRAME, 80);
    screen.restore();
    terminal.show('[1]+ Stopped\r\n');
    screen.draw(FRAME, 80);
    expect(terminal.screen).toEqual([...FRAME, '[1]+ Stopped', ...FRAME, '']);
    expect(terminal.isCursorVisible).toBe(false);
  });
});

describe('an alternate screen', () => {
  const tall = (width: number): string[] =>
    Array.from({ length: 9 }, (_, row) => String(row).repeat(width - 1));

  it('leaves the scrollback unchanged when the terminal is resized', () => {
    const terminal = new TinyTerminal(40, 10);
    terminal.show('before\r\n');
    const screen = screenOn(terminal, true);
    screen.draw(tall(40), 40);
    for (const [columns, rows] of [
      [30, 10],
      [12, 10],
      [20, 6],
      [40, 10],
      [24, 8],
    ] as const) {
      terminal.resize(columns, rows);
      screen.draw(tall(columns).slice(0, rows - 1), columns);
      expect(terminal.screen).toEqual([...tall(columns).slice(0, rows - 1), '']);
      expect(terminal.history).toEqual([]);
    }
    screen.restore();
    expect([...terminal.history, ...terminal.screen]).toEqual(['before', ...tall(24).slice(0, 7), '']);
    expect(terminal).toMatchObject({ isCursorVisible: true, wrapsRows: true });
  });

  it('shows the picture once at its end, below the earlier output', () => {
    const terminal = new TinyTerminal();
    terminal.show('$ npm run demo\r\n');
    const screen = screenOn(terminal, true);
    screen.draw(FRAME, 80);
    screen.draw(['one', 'zwei', 'three'], 80);
    expect(terminal.screen).toEqual(['one', 'zwei', 'three', '']);
    screen.restore();
    screen.restore();
    expect(terminal.screen).toEqual(['$ npm run demo', 'one', 'zwei', 'three', '']);
    screen.draw(FRAME, 80);
    screen.restore();
    expect(terminal.screen).toEqual(['$ npm run demo', 'one', 'zwei', 'three', ...FRAME, '']);
  });
});
