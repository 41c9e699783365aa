import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { paintSvg } from '../../scripts/picture/svg.mjs';
import { Terminal } from '../../scripts/picture/terminal.mjs';
import { PHRASES } from '../../src/emulator/core/phrase-book.ts';
import { frameOf } from '../cli/demo/made-up.ts';

const page = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const picture = page('docs/demo.svg');
const ESC = '\u001b[';

describe('the picture on the front page', () => {
  it('is linked on the front page', () => {
    for (const name of ['demo.svg', 'screen.png', 'console.png'])
      expect(page('README.md')).toContain(`(docs/${name})`);
  });

  it('shows the labels of the present live view; "npm run picture" draws it again', () => {
    const frame = frameOf({}, { columns: 80, rows: 26 });
    const labels = frame.flatMap(
      (row) => /^ (?:── )?([A-Za-z][a-z]+(?: [a-z]+)*)(?: ─| {2})/.exec(row)?.[1] ?? [],
    );
    expect(labels).toContain('heard and translated');
    expect(labels.length).toBeGreaterThan(6);
    for (const label of labels) expect(picture).toContain(label);
  });

  it('shows complete sentences with their translations', () => {
    const isShown = (text: string): boolean => picture.includes(`>${text}<`);
    const shown = PHRASES.filter(({ en, es }) => en !== undefined && es !== undefined && isShown(en));
    expect(shown.length).toBeGreaterThan(1);
    for (const { es = '' } of shown) expect(isShown(es), es).toBe(true);
  });
});

describe('the terminal of the picture', () => {
  it('keeps overwritten text and its style', () => {
    const terminal = new Terminal(10);
    terminal.write(`one\r\n${ESC}32m${ESC}1mtwo${ESC}22m!${ESC}39m\r\n${ESC}2A1${ESC}K`);
    expect(terminal.rows()).toEqual([
      [{ text: '1', column: 0, style: '' }],
      [
        { text: 'two', column: 0, style: '1;32' },
        { text: '!', column: 3, style: '32' },
      ],
      [],
    ]);
  });

  it('cuts text at its edge and clears below the cursor', () => {
    const terminal = new Terminal(4);
    terminal.write(`abcdef\r\nx\r\n${ESC}2A${ESC}J12`);
    expect(terminal.text()).toBe('12');
  });

  it('is painted as escaped XML text, as wide as its columns', () => {
    const svg = paintSvg([[{ text: ' a<b&c ', column: 2, style: '31' }]], 10, 'x');
    expect(svg).toContain('>a&lt;b&amp;c</text>');
    expect(svg).toContain('textLength="42.0"');
  });
});
