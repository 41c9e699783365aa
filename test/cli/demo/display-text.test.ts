import { describe, expect, it } from 'vitest';
import {
  displayWidth,
  neutralise,
  padTo,
  truncate,
  wrapColumns,
  wrapWithin,
} from '../../../src/cli/demo/display-text.ts';
import { ANY_CHARACTER, fc } from '../../properties.ts';

const anyText = fc.string({ unit: ANY_CHARACTER, maxLength: 80 });
const JAPANESE = '今日は博物館は何時に閉まりますか。車椅子で二階まで上がれますか。';

describe('neutralise', () => {
  it.each([
    ['a colour', 'a\u001b[31mred\u001b[0m b', 'ared b'],
    ['a title for the window', 'a\u001b]0;owned\u0007b', 'ab'],
    ['a sequence of the C1 kind', 'a\u009b2Jb', 'ab'],
    ['an escape without an end', 'a\u001b', 'a'],
    ['a carriage return over the line', 'good\r\nbad', 'good bad'],
    ['a backspace and a bell', 'a\bb\u0007c', 'a b c'],
    ['tabs and line separators', 'a\tb\u2028c\u2029d', 'a b c d'],
    ['a turn of the direction', 'a\u202edcb\u202c\u2067e\u2069', 'adcbe'],
    ['half a character', 'a\ud83d', 'a\ufffd'],
    ['blanks around', '  a   b  ', 'a b'],
  ])('sanitises %s', (_, given, expected) => {
    expect(neutralise(given)).toBe(expected);
  });

  it.each([
    ['accents', '¿Qué antigüedad?'],
    ['Japanese', JAPANESE],
    ['Arabic', 'صباح الخير'],
    ['joined emoji', '👩‍👩‍👧 ok'],
    ['Hindi with joiners', 'क्‍ष'],
  ])('does not change %s', (_, text) => {
    expect(neutralise(text)).toBe(text);
  });

  it('removes all control characters from any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(neutralise(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('widths', () => {
  it('counts columns, not characters', () => {
    expect(displayWidth('abc')).toBe(3);
    expect(displayWidth('日本語')).toBe(6);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(displayWidth('👩‍👩‍👧')).toBe(2);
    expect(displayWidth('\u001b[31mred\u001b[39m')).toBe(3);
  });

  it('pads to columns', () => {
    expect(padTo('日本', 6)).toBe('日本  ');
    expect(padTo('too long', 3)).toBe('too long');
  });

  it('truncates between characters, never within a wide one', () => {
    expect(truncate('日本語', 6, '…')).toBe('日本語');
    expect(truncate('日本語', 5, '…')).toBe('日本…');
    expect(truncate('日本語', 4, '…')).toBe('日…');
    expect(truncate('abc def', 5, '…')).toBe('abc…');
    expect(truncate('abcdef', 2, '...')).toBe('');
  });
});

describe('wrapping', () => {
  it('breaks between words', () => {
    expect(wrapColumns('two tickets for the exhibition', 12)).toEqual([
      'two tickets',
      'for the',
      'exhibition',
    ]);
  });

  it('breaks Japanese anywhere but before a closing mark', () => {
    const lines = wrapColumns(JAPANESE, 17);
    expect(lines.join('')).toBe(JAPANESE);
    for (const line of lines) {
      expect(displayWidth(line)).toBeLessThanOrEqual(17);
      expect(line).not.toMatch(/^[。、」ー]/u);
    }
    // A full stop at the start of a line takes the previous character along.
    expect(wrapColumns('日本語。', 6)).toEqual(['日本', '語。']);
  });

  it('breaks a word that is longer than a line', () => {
    expect(wrapColumns('a Donaudampfschifffahrt', 10)).toEqual(['a', 'Donaudampf', 'schifffahr', 't']);
  });

  it('returns no lines for an empty text, and none when nothing fits', () => {
    expect(wrapColumns('', 10)).toEqual([]);
    expect(wrapColumns('日本', 1)).toEqual([]);
  });

  it('truncates the end of a final text, and the beginning of a partial one', () => {
    const text = 'one two three four five six';
    const start = { keep: 'start', mark: '…' } as const;
    const end = { keep: 'end', mark: '…' } as const;
    expect(wrapWithin(text, 10, 3, start)).toEqual(['one two', 'three four', 'five six']);
    expect(wrapWithin(text, 10, 2, start)).toEqual(['one two', 'three fou…']);
    expect(wrapWithin(text, 10, 2, end)).toEqual(['…hree four', 'five six']);
    expect(wrapWithin(text, 10, 1, end)).toEqual(['…five six']);
  });

  it('keeps any text within any width, and loses nothing without a limit of lines', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 1, max: 4 }),
        (raw, width, most) => {
          const text = neutralise(raw);
          for (const keep of ['start', 'end'] as const) {
            const lines = wrapWithin(text, width, most, { keep, mark: '…' });
            expect(lines.length).toBeLessThanOrEqual(most);
            for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
          }
          expect(wrapColumns(text, width).join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        },
      ),
    );
  });
});
