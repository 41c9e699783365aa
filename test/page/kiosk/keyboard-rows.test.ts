import { describe, expect, it } from 'vitest';
import { keysOf } from '../../../src/page/kiosk/keyboard-rows.ts';

/** The letters and marks that people need to write the language. */
const LETTERS: Readonly<Record<string, string>> = {
  ar: 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي ءأإآؤئةى',
  de: 'abcdefghijklmnopqrstuvwxyzäöüß',
  en: 'abcdefghijklmnopqrstuvwxyz',
  es: 'abcdefghijklmnñopqrstuvwxyzáéíóúü¿¡',
  fr: "abcdefghijklmnopqrstuvwxyzàâçéèêëîïôœùû'",
  he: 'אבגדהוזחטיכלמנסעפצקרשתךםןףץ',
  hi: 'अआइईउऊऋएऐऑओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरलवशषसहािीुूृेैॉोौ्ंँः़',
  it: 'abcdefghijklmnopqrstuvwxyzàèéìòù',
  pl: 'abcdefghijklmnopqrstuvwxyząćęłńóśźż',
  pt: 'abcdefghijklmnopqrstuvwxyzáâãàçéêíóôõú',
  ru: 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
  th: 'กขคฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮฤะัาำิีึืุูเแโใไๅๆ็่้๊๋์',
  tr: 'abcçdefgğhıijklmnoöprsştuüvyz',
  uk: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
  vi: 'abcdefghijklmnopqrstuvwxyzăâđêôơư\u0300\u0301\u0303\u0309\u0323',
};

describe('the keyboard on the screen', () => {
  it.each(Object.entries(LETTERS))('of "%s" has every letter of its language', (language, letters) => {
    const keys = keysOf(language).flat();
    expect([...letters].filter((letter) => letter !== ' ' && !keys.includes(letter))).toEqual([]);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });

  it.each(Object.keys(LETTERS))('of "%s" fits on the screen', (language) => {
    const rows = keysOf(language).map(({ length }) => length);
    // With the row of the space: six rows at most.
    expect(rows.length).toBeLessThanOrEqual(5);
    expect(Math.max(...rows)).toBeLessThanOrEqual(14);
  });

  it.each([
    ['th', 1, ['ๆ', 'ไ', 'ำ', 'พ', 'ะ', 'ั', 'ี', '๊', 'ร', 'น', 'ย', 'บ', 'ล']],
    ['hi', 4, ['ा', 'ि', 'ी', 'ु', 'ू', 'ृ', 'े', 'ै', 'ॉ', 'ो', 'ौ', '्', 'ं', 'ँ']],
    ['vi', 4, ['ă', 'â', 'đ', 'ê', 'ô', 'ơ', 'ư', '\u0300', '\u0301', '\u0303', '\u0309', '\u0323']],
    ['de-AT', 2, ['a', 's', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'ö', 'ä']],
    ['cy', 1, ['q', 'w', 'e', 'r', 't', 'y', 'u', 'i', 'o', 'p']],
  ])('of "%s" has a key for each letter and for each mark: row %i', (language, row, keys) => {
    expect(keysOf(language)[row]).toEqual(keys);
  });

  it.each(['zh', 'ja-JP', 'ko'])('is none for "%s", which needs an input method', (language) => {
    expect(keysOf(language)).toEqual([]);
  });
});
