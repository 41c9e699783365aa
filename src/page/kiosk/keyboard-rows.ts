import { primaryOf } from '../../protocol/common/language-tag.ts';

/** The layouts of the on-screen keyboard, the only keyboard of most kiosks. One code point is one key. */
interface Layout {
  /** Rows of letters below the digits. */
  readonly rows: readonly string[];
  /** What shift makes of the keys in `rows`, for a script without capitals. A missing row is the same. */
  readonly shift?: readonly string[];
  readonly digits?: string;
  /** The digits that a long press on a digit offers. */
  readonly otherDigits?: string;
  /** Keys on both sides of the space. */
  readonly marks?: readonly [before: string, after: string];
  /** Letters that only a long press offers. */
  readonly more?: string;
}

const LATIN = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const SPANISH = ['qwertyuiop', 'asdfghjklñ', 'zxcvbnm'];
const NORDIC = ['qwertyuiopå', 'asdfghjklöä', 'zxcvbnm'];
const RUSSIAN = ['йцукенгшщзхъ', 'фывапролджэ', 'ячсмитьбюё'];
const DIGITS = '1234567890';
const MARKS = ["',-", '.?!'] as const;
const ARABIC_MARKS = ['،', '.؟!'] as const;
/** InScript, the layout of India's standard, with the marks of phones. */
const DEVANAGARI: Layout = {
  rows: ['ौैाीूबहगदजड\u093c', 'ोे्िुपरकतचटॉ', 'ृंमनवलसयः'],
  shift: ['औऐआईऊभङघधझढञ', 'ओएअइउफऱखथछठऑ', 'ऋँणॅऍळशषॲ'],
  marks: [',-', '।?!'],
  otherDigits: '१२३४५६७८९०',
  more: '\u0958\u0959\u095a\u095b\u095c\u095d\u095e',
};
const NORWEGIAN: Layout = { rows: ['qwertyuiopå', 'asdfghjkløæ', 'zxcvbnm'], more: 'éèêóòô' };

/** By the primary tag of a language. A language of the Latin script that is missing here has `LATIN`. */
const LAYOUTS: Readonly<Record<string, Layout>> = {
  ar: {
    rows: ['ضصثقفغعهخحجد', 'شسيبلاتنمكط', 'ذئءؤرىةوزظأإآ'],
    digits: '١٢٣٤٥٦٧٨٩٠',
    otherDigits: DIGITS,
    marks: ARABIC_MARKS,
  },
  ba: { rows: [...RUSSIAN, 'әөүғҡңҙҫһ'] },
  be: { rows: ['йцукенгшўзх', 'фывапролджэ', 'ячсмітьбюё'], more: 'ґ' },
  bg: { rows: ['явертъуиопшщ', 'асдфгхйклч', 'зьцжбнмю'], more: 'ѝ' },
  bn: {
    rows: ['ৌৈাীূবহগদজড\u09bc', 'োে্িুপরকতচট', 'ৃংমনৎলসয'],
    shift: ['ঔঐআঈঊভঙঘধঝঢঞ', 'ওএঅইউফরখথছঠ', 'ঋঁণনঃলশষ'],
    digits: '১২৩৪৫৬৭৮৯০',
    otherDigits: DIGITS,
    marks: [',-', '।?!'],
    more: '\u09dc\u09dd\u09df',
  },
  ca: { rows: [...LATIN, 'àçèéíïòóúü·'] },
  cs: { rows: ['qwertzuiopú', 'asdfghjklů', 'yxcvbnm', 'áčďéěíňóřšťýž'] },
  cy: { rows: [...LATIN, 'âêîôûŵŷ'], more: 'áàäéèëíìïóòöúùüẃẁẅýỳÿ' },
  da: { rows: ['qwertyuiopå', 'asdfghjklæø', 'zxcvbnm'], more: 'é' },
  de: { rows: ['qwertzuiopü', 'asdfghjklöä', 'yxcvbnmß'] },
  el: { rows: ['ςερτυθιοπ', 'ασδφγηξκλ', 'ζχψωβνμ', 'άέήίόύώϊϋΐΰ'], marks: ["',-", '.;!'] },
  eo: { rows: [...LATIN, 'ĉĝĥĵŝŭ'] },
  es: { rows: [...SPANISH, 'áéíóúü'], marks: ["',-", '.¿?¡!'] },
  et: { rows: ['qwertyuiopüõ', 'asdfghjklöä', 'zxcvbnmšž'] },
  eu: { rows: SPANISH, more: 'çü' },
  fa: {
    rows: ['ضصثقفغعهخحجچ', 'شسیبلاتنمکگ', 'ظطزرذدپوژئءآ'],
    digits: '۱۲۳۴۵۶۷۸۹۰',
    otherDigits: DIGITS,
    marks: ARABIC_MARKS,
    more: 'أؤة',
  },
  fi: { rows: NORDIC, more: 'šž' },
  fil: { rows: SPANISH, more: 'áàâéèêíìîóòôúùû' },
  fr: { rows: ['azertyuiop', 'qsdfghjklm', 'wxcvbn', 'éèàçêùâîôûœë'], more: 'ïüæÿ' },
  ga: { rows: [...LATIN, 'áéíóú'] },
  gl: { rows: [...SPANISH, 'áéíóúüï'], marks: ["',-", '.¿?¡!'] },
  he: { rows: ['קראטוןםפ', 'שדגכעיחלךף', 'זסבהנמצתץ'], marks: ["',-", '.?!'] },
  hi: DEVANAGARI,
  hr: { rows: ['qwertzuiopšđ', 'asdfghjklčć', 'yxcvbnmž'] },
  hu: { rows: ['qwertzuiopőú', 'asdfghjkléáű', 'yxcvbnmíüöó'] },
  it: { rows: [...LATIN, 'àèéìòù'], more: 'îóú' },
  // Kana alone, in their usual order: a kana is enough to be understood, and kanji would need a large dictionary.
  ja: {
    rows: [
      'あかさたなはまやらわゃ16',
      'いきしちにひみ\u3099りーゅ27',
      'うくすつぬふむゆるをょ38',
      'えけせてねへめ\u309aれ・っ49',
      'おこそとのほもよろんぁ50',
    ],
    shift: [
      'アカサタナハマヤラワャ16',
      'イキシチニヒミ\u3099リーュ27',
      'ウクスツヌフムユルヲョ38',
      'エケセテネヘメ\u309aレ・ッ49',
      'オコソトノホモヨロンァ50',
    ],
    digits: '',
    marks: ['、', '。？！'],
    more: 'がぎぐげござじずぜぞだぢづでどばびぶべぼぱぴぷぺぽヴガギグゲゴザジズゼゾダヂヅデドバビブベボパピプペポぃぅぇぉィゥェォ',
  },
  // 2-beolsik: hangul.ts makes syllables of these letters.
  ko: {
    rows: ['ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ', 'ㅁㄴㅇㄹㅎㅗㅓㅏㅣ', 'ㅋㅌㅊㅍㅠㅜㅡ'],
    shift: ['ㅃㅉㄸㄲㅆㅛㅕㅑㅒㅖ'],
  },
  lt: { rows: [...LATIN, 'ąčęėįšųūž'] },
  lv: { rows: [...LATIN, 'āčēģīķļņšūž'] },
  mn: { rows: ['фцужэнгшүзкъ', 'йыбөахролдп', 'ячёсмитьвюещ'] },
  mr: DEVANAGARI,
  mt: { rows: [...LATIN, 'ċġħżàèìòù'] },
  nb: NORWEGIAN,
  nl: { rows: LATIN, more: 'éèëïíóöúü' },
  nn: NORWEGIAN,
  no: NORWEGIAN,
  pl: { rows: [...LATIN, 'ąćęłńóśźż'] },
  pt: { rows: [...LATIN, 'áâãàçéêíóôõú'], more: 'ü' },
  ro: { rows: [...LATIN, 'ăâîșț'] },
  ru: { rows: RUSSIAN },
  sk: { rows: ['qwertzuiopúä', 'asdfghjklôň', 'yxcvbnm', 'áčďéíľĺóŕšťýž'] },
  sl: { rows: ['qwertzuiopš', 'asdfghjklčž', 'yxcvbnm'], more: 'ćđ' },
  sv: { rows: NORDIC, more: 'éà' },
  ta: {
    rows: ['ௌைாீூஹஙஜஞ', 'ோே்ிுபரகதசட', 'ொெமநவலஸயஃ'],
    shift: ['ஔஐஆஈஊஹஙஜஞ', 'ஓஏஅஇஉபறகதசட', 'ஒஎணனழளஷயஃ'],
    marks: [',-', '.?!'],
  },
  // Kedmanee.
  th: {
    rows: ['ๅภถุึคตจขช', 'ๆไำพะัีรนยบล', 'ฟหกดเ้่าสวง', 'ผปแอิืทมใฝ'],
    shift: ['฿ภถูึคตจขช', 'ๆไฎฑธํ๊ณฯญฐล', 'ฤฆฏโฌ็๋ษศซง', 'ผปฉฮฺ์ทฒฬฦ'],
    otherDigits: '๑๒๓๔๕๖๗๘๙๐',
    more: 'ฃฅ',
    marks: ['-', '.?!'],
  },
  tr: { rows: ['qwertyuıopğü', 'asdfghjklşi', 'zxcvbnmöç'], more: 'âîû' },
  ug: { rows: ['چۋېرتيۇڭوپ', 'ھسداەىقكل', 'زشغۈبنمئ', 'ژفگخجۆ'], marks: ARABIC_MARKS },
  uk: { rows: ['йцукенгшщзхї', 'фівапролджє', 'ґячсмитьбю'] },
  ur: {
    rows: ['قوعرتےءیہپ', 'اسدفگحجکل', 'زشچطبنم'],
    shift: ['قؤعڑٹۓئیۃپ', 'آصڈفغھضخل', 'ذژثظبںم'],
    marks: ['،', '۔؟!'],
    otherDigits: '۱۲۳۴۵۶۷۸۹۰',
  },
  vi: {
    rows: [...LATIN, 'ăâđêôơư\u0300\u0301\u0303\u0309\u0323'],
    more: 'áàảãạắằẳẵặấầẩẫậéèẻẽẹếềểễệíìỉĩịóòỏõọốồổỗộớờởỡợúùủũụứừửữựýỳỷỹỵ',
  },
};

/** Further letters of the Latin script, for names from elsewhere. */
const MORE_LATIN = 'áàâäãåæāăąçćčĉċďđðéèêëēėęěğģĝġĥħíìîïīįıĵķłľĺļñńňņóòôöõøőœřŕßšşșťțþúùûüūůűųŵýÿŷžźż';
const MORE_MARKS: Readonly<Record<string, string>> = {
  "'": '"’«»„“”()',
  ',': ';:',
  '،': '؛:,',
  '-': '–/+@&%€$£',
  '.': '…:;/@&%',
};
/** The letter whose key offers the second one, where Unicode does not know it. */
const BASES = new Map(
  'aæ oœ oø lł l· sß dđ dð tþ iı hħ гґ هة يى つっ やゃ ゆゅ よょ あぁ ツッ ヤャ ユュ ヨョ アァ ขฃ คฅ ぁぃ ぁぅ ぁぇ ぁぉ ァィ ァゥ ァェ ァォ'
    .split(' ')
    .map(([base = '', letter = '']) => [letter, base]),
);
/** Marks that have a sign of their own. */
const SIGNS: Readonly<Record<string, string>> = { '\u3099': '\u309b', '\u309a': '\u309c' };
const MOST_VARIANTS = 8;

export interface Key {
  /** What it types. */
  readonly text: string;
  /** What stands on it. */
  readonly sign: string;
  /** What a long press offers, the letters of the language first. */
  readonly variants: readonly string[];
}

export interface Keyboard {
  readonly rows: readonly (readonly Key[])[];
  /** Keys on both sides of the space. */
  readonly marks: readonly [before: readonly Key[], after: readonly Key[]];
  /** letters: shift gives other letters; none: there is no shift. */
  readonly shift: 'capitals' | 'letters' | 'none';
}

/** Keyboards made so far: making one for each letter would make a slow device lag behind the finger. */
const made = new Map<string, Keyboard | null>();

/** The keys of a language; null: its script has no keys here, and it is typed with a keyboard that is plugged in. */
export function keyboardOf(language: string, isShifted: boolean): Keyboard | null {
  const name = `${language} ${isShifted}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const layout = layoutOf(language);
  const keyboard = layout === null ? null : keyboardFrom(layout, language, isShifted);
  made.set(name, keyboard);
  return keyboard;
}

function keyboardFrom(layout: Layout, language: string, isShifted: boolean): Keyboard {
  const { rows, shift: shiftRows, digits = DIGITS, otherDigits = '', marks = MARKS, more = '' } = layout;
  const keys = [...rows, ...(shiftRows ?? [])].join('');
  const hasCapitals = shiftRows === undefined && upper(keys, language) !== keys;
  const isUpper = isShifted && hasCapitals;
  const variantsOf = variantsIn(keys, more);
  const letters = (row: string): Key[] =>
    [...row].map((letter) => {
      const variants = variantsOf.get(letter)?.slice(0, MOST_VARIANTS) ?? [];
      if (!isUpper) return key(letter, variants);
      return key(
        upper(letter, language),
        variants.map((one) => upper(one, language)),
      );
    });
  const shown = rows.map((row, at) => letters((isShifted && shiftRows?.[at]) || row));
  const others = [...otherDigits];
  const digitKeys = [...digits].map((digit, at) => key(digit, others.slice(at, at + 1)));
  const [before, after] = marks;
  const markKeys = (row: string): Key[] => [...row].map((mark) => key(mark, [...(MORE_MARKS[mark] ?? '')]));
  return {
    rows: digitKeys.length === 0 ? shown : [digitKeys, ...shown],
    marks: [markKeys(before), markKeys(after)],
    shift: hasCapitals ? 'capitals' : shiftRows === undefined ? 'none' : 'letters',
  };
}

/** What each key offers: the letters of the language first. */
function variantsIn(keys: string, more: string): ReadonlyMap<string, readonly string[]> {
  const all = new Set(keys + more + (/[a-z]/.test(keys) ? MORE_LATIN : ''));
  const variants = new Map<string, string[]>();
  for (const letter of all) {
    const base = baseOf(letter, keys);
    if (base !== letter) variants.set(base, [...(variants.get(base) ?? []), letter]);
  }
  return variants;
}

/** A mark alone stands on a circle, so that it can be seen. */
export const signOf = (text: string): string =>
  SIGNS[text] ?? (/^\p{M}/u.test(text) ? `\u25cc${text}` : text);

const key = (text: string, variants: readonly string[]): Key => ({ text, sign: signOf(text), variants });

function layoutOf(language: string): Layout | null {
  const primary = primaryOf(language);
  const script = scriptOf(language);
  const own = LAYOUTS[primary];
  if (own !== undefined && script === scriptOf(primary)) return own;
  // The language is unknown where the service detects it.
  return script === 'Latn' || primary === 'auto' ? { rows: LATIN } : null;
}

/** The usual script of a language, or the one that its tag names. A tag that fits our pattern may still be invalid. */
function scriptOf(language: string): string | undefined {
  for (const tag of [language, primaryOf(language)]) {
    try {
      return new Intl.Locale(tag).maximize().script;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}

/** The letter whose key offers this one: of several marks, one may be on a key with the letter, as `ê` for `ế`. */
function baseOf(letter: string, keys: string): string {
  const [base = '', ...marks] = letter.normalize('NFD');
  const nearer = marks.length < 2 ? [] : marks.map((mark) => (base + mark).normalize('NFC'));
  return BASES.get(letter) ?? nearer.find((one) => keys.includes(one)) ?? base;
}

/** Capitals. Letters whose capital is no single letter stay, and Greek ones keep their accents. */
function upper(text: string, language: string): string {
  const locale = primaryOf(language) === 'tr' ? 'tr' : 'en';
  return Array.from(text, (letter) => {
    if (letter === 'ß') return 'ẞ';
    const capital = letter.toLocaleUpperCase(locale);
    return [...capital].length === 1 ? capital : letter;
  }).join('');
}
