import { describe, expect, it } from 'vitest';
import { keysOf } from '../../../src/page/kiosk/keyboard-rows.ts';

describe('the keyboard on the screen', () => {
  it.each([
    ['th', 1, ['ๆ', 'ไ', 'ำ', 'พ', 'ะ', 'ั', 'ี', 'ร', 'น', 'ย', 'บ', 'ล']],
    ['hi', 4, ['ा', 'ि', 'ी', 'ु', 'ू', 'े', 'ै', 'ो', 'ौ', '्', 'ं', '।', '?']],
    ['vi', 5, ['\u0301', '\u0300', '\u0309', '\u0303', '\u0307']],
    ['de-AT', 2, ['a', 's', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'ö', 'ä']],
    ['cy', 1, ['q', 'w', 'e', 'r', 't', 'y', 'u', 'i', 'o', 'p']],
  ])('of "%s" has a key for each letter and for each mark: row %i', (language, row, keys) => {
    expect(keysOf(language)[row]).toEqual(keys);
  });

  it.each(['zh', 'ja-JP', 'ko'])('is none for "%s", which needs an input method', (language) => {
    expect(keysOf(language)).toEqual([]);
  });
});
