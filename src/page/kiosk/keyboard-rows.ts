/** Rows of the on-screen keyboard, the only keyboard of most kiosks. */
const LATIN = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm,.?'];
const ROWS: Readonly<Record<string, readonly string[]>> = {
  ar: ['ضصثقفغعهخح', 'شسيبلاتنمك', 'ئءؤرىةوزظط', 'جدذأإآ،.؟'],
  de: ['1234567890', 'qwertzuiopü', 'asdfghjklöä', 'yxcvbnmß,.?'],
  es: ['1234567890', 'qwertyuiop', 'asdfghjklñ', 'zxcvbnm,.?', 'áéíóúü¿¡'],
  fr: ['1234567890', 'azertyuiop', 'qsdfghjklm', "wxcvbn',.?", 'éèêëàâçùîôûïœ'],
  he: ['1234567890', 'קראטוןםפ', 'שדגכעיחלךף', 'זסבהנמצתץ,.?'],
  hi: ['अआइईउऊऋएऐऑओऔ', 'कखगघङचछजझञटठ', 'डढणतथदधनपफ।?', 'बभमयरलवशषसहः\u093c', 'ािीुूृेैॉोौ्ंँ'],
  it: [...LATIN, "àèéìòù'"],
  pl: [...LATIN, 'ąćęłńóśźż'],
  pt: [...LATIN, 'áâãàçéêíóôõú'],
  ru: ['1234567890', 'йцукенгшщзхъ', 'фывапролджэ', 'ячсмитьбюё,.?'],
  th: ['ๅภถุูึคตจฉขชซ', 'ๆไำพะัี๊รนยบล', 'ฟหกดเโ้๋่าสศวง', 'ผปแอิื์็ทธมใฝ', 'ฤฆฎฏฐฑฒณญฌษฬฮ'],
  tr: ['1234567890', 'qwertyuıopğü', 'asdfghjklşi', 'zxcvbnmöç,.?'],
  uk: ['1234567890', 'йцукенгшщзхї', 'фівапролджє', 'ячсмитьбюґ,.?'],
  vi: [...LATIN, 'ăâđêôơư\u0300\u0301\u0303\u0309\u0323'],
};
/** Scripts that need an input method: they are typed with a keyboard that is plugged in. */
const NOT_ON_SCREEN = ['zh', 'ja', 'ko'];

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The keys, by row; empty: the language cannot be typed on the screen. */
export function keysOf(language: string): readonly (readonly string[])[] {
  const [primary = ''] = language.toLowerCase().split('-');
  if (NOT_ON_SCREEN.includes(primary)) return [];
  return (ROWS[primary] ?? LATIN).map((row) =>
    primary === 'hi' || primary === 'th' || primary === 'vi'
      ? [...row]
      : Array.from(graphemes.segment(row), ({ segment }) => segment),
  );
}
