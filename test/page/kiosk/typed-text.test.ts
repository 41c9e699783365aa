import { describe, expect, it } from 'vitest';
import { beginsSentence, withKey, withoutLast } from '../../../src/page/kiosk/typed-text.ts';

const typed = (keys: string) => [...keys].reduce(withKey, '');

describe('Korean letters', () => {
  it.each([
    ['ㅇㅏㄴㄴㅕㅇㅎㅏㅅㅔㅇㅛ', '안녕하세요'],
    // A consonant that closes a syllable goes to the vowel that follows.
    ['ㄱㅏㄱㅏ', '가가'],
    ['ㄷㅏㄹㄱㅇㅣ', '닭이'],
    ['ㄷㅏㄹㄱㅣ', '달기'],
    ['ㅎㅗㅏㅈㅏㅇㅅㅣㄹ', '화장실'],
    ['ㅇㅡㅣㅈㅏ', '의자'],
    ['ㅇㅓㅂㅅㅇㅓㅇㅛ', '없어요'],
    ['ㅇㅓㅂㅅㅓ', '업서'],
    ['ㅇㅣㅆㅇㅓ', '있어'],
    ['ㄲㅏㅉㅏ', '까짜'],
    // These never close a syllable.
    ['ㅇㅏㄸㅏ', '아따'],
    ['ㅇㅏㄴㅎㄱㅗ', '않고'],
    ['ㅋㅋㅋ', 'ㅋㅋㅋ'],
    ['ㅠㅠ', 'ㅠㅠ'],
    ['ㅗㅏㅏ', 'ㅘㅏ'],
    ['ㅎㅏㄴ ㄱㅡㄹ2ㅊㅡㅇ', '한 글2층'],
  ])('%s become %s', (keys, text) => {
    expect(typed(keys)).toBe(text);
  });

  it('make each of the 11,172 syllables, which the delete key takes apart again', () => {
    const leads = 'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ';
    const vowels =
      'ㅏㅐㅑㅒㅓㅔㅕㅖㅗ(ㅗㅏ)(ㅗㅐ)(ㅗㅣ)ㅛㅜ(ㅜㅓ)(ㅜㅔ)(ㅜㅣ)ㅠㅡ(ㅡㅣ)ㅣ'.match(/\(..\)|./g) ?? [];
    const tails = [
      '',
      ...('ㄱㄲ(ㄱㅅ)ㄴ(ㄴㅈ)(ㄴㅎ)ㄷㄹ(ㄹㄱ)(ㄹㅁ)(ㄹㅂ)(ㄹㅅ)(ㄹㅌ)(ㄹㅍ)(ㄹㅎ)ㅁㅂ(ㅂㅅ)ㅅㅆㅇㅈㅊㅋㅌㅍㅎ'.match(
        /\(..\)|./g,
      ) ?? []),
    ];
    let code = 0xac00;
    for (const lead of leads)
      for (const vowel of vowels)
        for (const tail of tails) {
          const keys = `${lead}${vowel}${tail}`.replace(/[()]/g, '');
          const text = typed(keys);
          if (text !== String.fromCharCode(code)) expect(`${keys}: ${text}`).toBe(String.fromCharCode(code));
          if (withoutLast(text) !== typed(keys.slice(0, -1)))
            expect(withoutLast(text)).toBe(typed(keys.slice(0, -1)));
          code += 1;
        }
    expect(code).toBe(0xd7a4);
  });
});

describe('a key and the delete key', () => {
  it('join a letter and its marks', () => {
    expect(typed('viê\u0323t')).toBe('việt');
    expect(typed('か\u3099')).toBe('が');
    expect(typed('α\u0301')).toBe('ά');
  });

  it.each([
    ['ye\u0301', 'y'],
    ['👩‍👩‍👧', ''],
    ['', ''],
    ['việt', 'việ'],
    // Marks that have a key of their own.
    ['ที่', 'ที'],
    ['ที', 'ท'],
    ['कि', 'क'],
    ['क्', 'क'],
    ['닭', '달'],
    ['화', '호'],
    ['호', 'ㅎ'],
    ['ㅎ', ''],
  ])('of "%s" leaves "%s"', (before, after) => {
    expect(withoutLast(before)).toBe(after);
  });
});

describe('a sentence', () => {
  it.each(['', '  ', 'Hello. ', 'Hello? ', 'Hello!  ', 'Hola. ¿', '¡', '«', 'Well… '])(
    'begins after "%s"',
    (before) => {
      expect(beginsSentence(before)).toBe(true);
    },
  );

  it.each(['H', 'Hello', 'Hello ', 'Hello.', 'Hello, ', '3.', 'well; ', '¿Q', '3.5 '])(
    'does not begin after "%s"',
    (before) => {
      expect(beginsSentence(before)).toBe(false);
    },
  );
});
