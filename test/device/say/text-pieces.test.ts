import { describe, expect, it } from 'vitest';
import { textPieces } from '../../../src/device/say/text-pieces.ts';
import { fc } from '../../properties.ts';

describe('a long text', () => {
  it('is split at the ends of sentences, else of clauses, else of words, else anywhere', () => {
    expect(textPieces('One two. Three four. Five six.', 22)).toEqual(['One two. Three four.', 'Five six.']);
    expect(textPieces('One two, three four five six', 20)).toEqual(['One two,', 'three four five six']);
    expect(textPieces('One two three four five', 12)).toEqual(['One two', 'three four', 'five']);
    expect(textPieces('aaaaaaaaaaaa', 5)).toEqual(['aaaaa', 'aaaaa', 'aa']);
    expect(textPieces('今日は。明日も来てください。', 6)).toEqual(['今日は。', '明日も来てく', 'ださい。']);
    expect(textPieces('3.5 and 3.5 and 3.5', 12)).toEqual(['3.5 and 3.5', 'and 3.5']);
  });

  it('is not split when it is short', () => {
    expect(textPieces(' Hola. ¿Qué tal? ')).toEqual(['Hola. ¿Qué tal?']);
    expect(textPieces('')).toEqual([]);
  });

  it('loses only blanks, and no character is split', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.integer({ min: 2, max: 40 }),
        (text, longest) => {
          const pieces = textPieces(text, longest);
          expect(pieces.every((piece) => piece.length <= longest && piece !== '')).toBe(true);
          expect(pieces.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
          expect(pieces.some((piece) => /[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/.test(piece))).toBe(false);
        },
      ),
    );
  });
});
