import { describe, expect, it } from 'vitest';
import { keyboardOf } from '../../../src/page/kiosk/keyboard-rows.ts';
import { withKey } from '../../../src/page/kiosk/typed-text.ts';
import { SPOKEN_LANGUAGES } from '../../../src/protocol/common/service-languages.ts';

const LATIN = 'abcdefghijklmnopqrstuvwxyz';
/** The letters and marks that people need to write the language: CLDR's main exemplar characters. */
const LETTERS: Readonly<Record<string, string>> = {
  ar: 'ابتثجحخدذرزسشصضطظعغفقكلمنهويءأإآؤئةى',
  ba: 'абвгғдҙеёжзийкҡлмнңоөпрсҫтуүфхһцчшщъыьэәюя',
  be: 'абвгдеёжзійклмнопрстуўфхцчшыьэюя',
  bg: 'абвгдежзийклмнопрстуфхцчшщъьюя',
  bn: 'অআইঈউঊঋএঐওঔকখগঘঙচছজঝঞটঠডঢণতৎথদধনপফবভমযরলশষসহািীুূৃেৈোৌ্ংঃঁ়',
  ca: `${LATIN}àçèéíïòóúü·`,
  cs: `${LATIN}áčďéěíňóřšťúůýž`,
  cy: `${LATIN}áàâäéèêëíìîïóòôöúùûüẃẁŵẅýỳŷÿ`,
  da: `${LATIN}æøå`,
  de: `${LATIN}äöüß`,
  el: 'αάβγδεέζηήθιίϊΐκλμνξοόπρσςτυύϋΰφχψωώ',
  en: LATIN,
  eo: `${LATIN}ĉĝĥĵŝŭ`,
  es: `${LATIN}ñáéíóúü`,
  et: `${LATIN}šžõäöü`,
  eu: `${LATIN}ñç`,
  fa: 'آابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیءأؤئة',
  fi: `${LATIN}åäöšž`,
  fil: `${LATIN}ñ`,
  fr: `${LATIN}àâæçéèêëîïôœùûüÿ`,
  ga: `${LATIN}áéíóú`,
  gl: `${LATIN}áéíñóúü`,
  he: 'אבגדהוזחטיכךלמםנןסעפףצץקרשת',
  hi: 'अआइईउऊऋएऐऑओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरलवशषसहािीुूृेैॉोौ्ंँः़',
  hr: `${LATIN}čćđšž`,
  hu: `${LATIN}áéíóöőúüű`,
  ia: LATIN,
  id: LATIN,
  it: `${LATIN}àèéìòùóí`,
  ja: 'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげござじずぜぞだぢづでどばびぶべぼぱぴぷぺぽゃゅょっぁぃぅぇぉー',
  ko: 'ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎㅏㅑㅓㅕㅗㅛㅜㅠㅡㅣㅐㅔㅒㅖㄲㄸㅃㅆㅉ',
  lt: `${LATIN}ąčęėįšųūž`,
  lv: `${LATIN}āčēģīķļņšūž`,
  mn: 'абвгдеёжзийклмноөпрстуүфхцчшщъыьэюя',
  mr: 'अआइईउऊऋएऐऑओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरलवशषसहळािीुूृेैॉोौॅ्ंः',
  ms: LATIN,
  mt: `${LATIN}àċèġħìòùż`,
  nl: `${LATIN}éëïóöü`,
  no: `${LATIN}åæøéèêóòô`,
  pl: `${LATIN}ąćęłńóśźż`,
  pt: `${LATIN}áâãàçéêíóôõú`,
  ro: `${LATIN}ăâîșț`,
  ru: 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
  sk: `${LATIN}áäčďéíĺľňóôŕšťúýž`,
  sl: `${LATIN}čšž`,
  sv: `${LATIN}åäöéà`,
  sw: LATIN,
  ta: 'அஆஇஈஉஊஎஏஐஒஓஔஃகஙசஞடணதநபமயரலவழளறனஜஷஸஹாிீுூெேைொோௌ்',
  th: 'กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮฤฦะัาำิีึืุูเแโใไๅๆฯ็่้๊๋์ํฺ',
  tr: 'abcçdefgğhıijklmnoöprsştuüvyzâîû',
  ug: 'ئاەبپتجچخدرزژسشغفقكگڭلمنھوۇۆۈۋېىي',
  uk: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
  ur: 'آابپتٹثجچحخدڈذرڑزژسشصضطظعغفقکگلمنںوؤہھءئیے',
  vi: `${LATIN}ăâđêôơưàảãáạằẳẵắặầẩẫấậèẻẽéẹềểễếệìỉĩíịòỏõóọồổỗốộờởỡớợùủũúụừửữứựỳỷỹýỵ`,
};
const DIGITS: Readonly<Record<string, string>> = {
  ar: '٠١٢٣٤٥٦٧٨٩',
  fa: '۰۱۲۳۴۵۶۷۸۹',
  bn: '০১২৩৪৫৬৭৮৯',
};
/** Languages that the service hears and speaks, and that need an input method with a dictionary. */
const WITH_DICTIONARY = ['yue', 'zh'];

const keysOf = (language: string, isShifted = false) => {
  const keyboard = keyboardOf(language, isShifted);
  return keyboard === null ? [] : [...keyboard.rows, ...keyboard.marks].flat();
};
const direct = (language: string, isShifted = false) => keysOf(language, isShifted).map(({ text }) => text);
const held = (language: string, isShifted = false) =>
  keysOf(language, isShifted).flatMap(({ variants }) => variants);
/** Everything that its keys write, with a long press and with shift. */
const writable = (language: string) =>
  [true, false].flatMap((isShifted) => [...direct(language, isShifted), ...held(language, isShifted)]);
const variantsOf = (language: string, letter: string, isShifted = false) =>
  keysOf(language, isShifted)
    .find(({ text }) => text === letter)
    ?.variants.join('');

describe('the keyboard on the screen', () => {
  it('has keys for each language that the service speaks, except Chinese', () => {
    const without = SPOKEN_LANGUAGES.filter((language) => keyboardOf(language, false) === null);
    expect(without.sort()).toEqual(WITH_DICTIONARY);
    const tested = Object.keys(LETTERS);
    expect(SPOKEN_LANGUAGES.filter((one) => ![...tested, ...WITH_DICTIONARY].includes(one))).toEqual([]);
  });

  it.each(Object.entries(LETTERS))('of "%s" writes every letter of its language', (language, letters) => {
    const keys = writable(language).map((text) => text.normalize('NFD'));
    expect([...letters].filter((letter) => !keys.includes(letter.normalize('NFD')))).toEqual([]);
    for (const isShifted of [false, true]) {
      const texts = direct(language, isShifted).filter((text) => text !== 'Σ');
      expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    }
  });

  it.each(Object.keys(LETTERS))('of "%s" has digits, and the marks of a question and a cry', (language) => {
    const texts = direct(language);
    expect([...(DIGITS[language] ?? '0123456789')].filter((digit) => !texts.includes(digit))).toEqual([]);
    expect([...'0123456789'].filter((digit) => !writable(language).includes(digit))).toEqual([]);
    expect(texts.join('')).toMatch(/[?？؟;]/);
    expect(texts.join('')).toMatch(/[!！]/);
    expect(texts.join('')).toMatch(/[.。।۔]/);
  });

  it.each(Object.keys(LETTERS))('of "%s" fits on the screen', (language) => {
    const { rows = [], marks: [before, after] = [[], []] } = keyboardOf(language, false) ?? {};
    // With the row of the space: six rows at most.
    expect(rows.length).toBeLessThanOrEqual(5);
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(13);
    expect(before.length + after.length).toBeLessThanOrEqual(8);
    expect(Math.max(...keysOf(language).map(({ variants }) => variants.length))).toBeLessThanOrEqual(10);
  });

  it.each([
    ['de', 1, 'qwertzuiopü'],
    ['de-AT', 3, 'yxcvbnmß'],
    ['fr', 1, 'azertyuiop'],
    ['tr', 1, 'qwertyuıopğü'],
    ['ru', 1, 'йцукенгшщзхъ'],
    ['ar', 1, 'ضصثقفغعهخحجد'],
    ['fa', 0, '۱۲۳۴۵۶۷۸۹۰'],
    ['hi', 1, 'ौैाीूबहगदजड\u093c'],
    ['th', 3, 'ฟหกดเ้่าสวง'],
    ['ko', 1, 'ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ'],
    ['vi', 4, 'ăâđêôơư\u0300\u0301\u0303\u0309\u0323'],
    // Without a row of its own, in the script that it is written in.
    ['cy', 1, 'qwertyuiop'],
    ['sw', 1, 'qwertyuiop'],
    ['hi-Latn', 1, 'qwertyuiop'],
    ['sr-Latn', 1, 'qwertyuiop'],
    ['auto', 1, 'qwertyuiop'],
    ['en-us-us', 1, 'qwertyuiop'],
  ])('of "%s" has the layout of its language: row %i', (language, row, keys) => {
    expect(
      keyboardOf(language, false)
        ?.rows[row]?.map(({ text }) => text)
        .join(''),
    ).toBe(keys);
  });

  it.each(['zh', 'zh-Hant', 'yue', 'ka', 'sr', 'am', 'uz-Arab'])(
    'is none for "%s": keys of another script could not write it',
    (language) => {
      expect(keyboardOf(language, false)).toBeNull();
    },
  );

  it.each([
    ['de', 'capitals', 'ÜÖÄYẞ'],
    ['tr', 'capitals', 'Iİ'],
    ['el', 'capitals', 'ΣΆΏ'],
    ['ru', 'capitals', 'ЁЖ'],
    ['hi', 'letters', 'औथऑ'],
    ['th', 'letters', 'ฤฆูํ'],
    ['ko', 'letters', 'ㅃㅉㅖㅁ'],
    ['ja', 'letters', 'アンー'],
    ['ar', 'none', 'ض'],
    ['he', 'none', 'א'],
  ])('of "%s" has by shift: %s', (language, shift, some) => {
    expect(keyboardOf(language, true)?.shift).toBe(shift);
    expect([...some].filter((letter) => !direct(language, true).includes(letter))).toEqual([]);
  });

  it.each([
    ['fr', 'e', false, /^éèêë/],
    ['fr', 'e', true, /^$/],
    ['fr', 'E', true, /^ÉÈÊË/],
    ['es', 'a', false, /^áà/],
    ['de', 's', false, /^ß/],
    ['pl', 'l', false, /^ł/],
    ['en', 'n', false, /^ñ/],
    ['ar', 'ا', false, /^[أإآ]{3}$/],
    ['ar', '١', false, /^1$/],
    ['hi', '1', false, /^१$/],
    ['th', '9', false, /^๙$/],
    ['ru', 'е', false, /^ё$/],
    ['ja', 'か', false, /^が$/],
    ['ja', 'ハ', true, /^バパ$/],
    ['vi', 'a', false, /^ăâáàảãạ[^ắ]$/],
    ['vi', 'ê', false, /^ếềểễệ$/],
    ['en', 'ب', false, /^$/],
  ])(
    'of "%s" offers by a long press on "%s" (shift: %s) its own letters first',
    (language, letter, isShifted, variants) => {
      expect(variantsOf(language, letter, isShifted) ?? '').toMatch(variants);
    },
  );

  it('shows a mark on a circle, so that it can be seen', () => {
    const signs = (language: string) => keysOf(language).map(({ sign }) => sign);
    expect(signs('vi')).toContain('\u25cc\u0301');
    expect(signs('th')).toContain('\u25ccั');
    expect(signs('hi')).toContain('\u25ccा');
    expect(signs('ja')).toContain('\u309b');
    expect(signs('fr')).toContain('é');
  });

  it.each([
    ['ja', ['て', '\u3099', 'ん', 'わ'], 'でんわ'],
    ['vi', ['v', 'i', 'ê', '\u0323', 't'], 'việt'],
    ['hi', ['क', 'ि', 'त', 'ा', 'ब'], 'किताब'],
    ['ko', ['ㅎ', 'ㅏ', 'ㄴ'], '한'],
  ])('of "%s" writes %j as %s', (language, keys, text) => {
    expect(keys.filter((one) => !direct(language).includes(one))).toEqual([]);
    expect(keys.reduce(withKey, '')).toBe(text);
  });
});
