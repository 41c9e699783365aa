import { describe, expect, it } from 'vitest';
import { harmless, jsonLine, oneLine, textLine } from '../../../src/protocol/common/plain-text.ts';

/** All characters that may control a terminal, or that reorder, hide or break text. */
const ALL = Array.from({ length: 0x11_0000 }, (_, code) => code).filter(
  (code) =>
    (code < 0xd800 || code > 0xdfff) && /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u.test(String.fromCodePoint(code)),
);
/** Newline, and the joiners of Persian letters and of emoji. */
const STAY = [0x0a, 0x200c, 0x200d];

describe('printed text', () => {
  it('for people contains a mark instead of each control character', () => {
    for (const code of ALL) {
      const character = String.fromCodePoint(code);
      expect(harmless(`a${character}b`)).toBe(STAY.includes(code) ? `a${character}b` : 'a?b');
    }
  });

  it('for people is one line after `oneLine`', () => {
    expect(textLine('one\r\ntwo\n\u2028three\tfour\u001b[2J')).toBe('one two three four?[2J\n');
    expect(oneLine('  as it was')).toBe('  as it was');
  });

  it('for programs is escaped and equivalent', () => {
    for (const code of ALL) {
      const text = `a${String.fromCodePoint(code)}"b\\`;
      const line = jsonLine({ [text]: [text] });
      expect(JSON.parse(line)).toEqual({ [text]: [text] });
      expect(harmless(line)).toBe(line);
      expect(line.match(/\n/g)).toHaveLength(1);
    }
  });
});
