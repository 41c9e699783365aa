/**
 * The last line of defence: nothing that could open a stream or an account leaves the program as text.
 * The first line is that no secret is passed to a logger.
 */

export const REDACTED = '[redacted]';

/** The text's methods that the scan uses, so that a test can count its reads. */
export interface Characters {
  readonly length: number;
  charCodeAt(index: number): number;
}

/** Names whose values are never shown, as an object's key or in `name=value`; in lower case, without `_` and `-`. */
const SECRET_NAMES = [
  'token',
  'password',
  'passwd',
  'passphrase',
  'authorization',
  'publisher',
  'subscriberkeys',
  'secret',
  'jwt',
  'credential',
  'credentials',
  'apikey',
  'privatekey',
  'jws',
];
/** Length of the end of a name that is checked (characters): the longest secret name and its separators. */
const NAME_END = 24;
const SCHEMES = ['bearer', 'basic'];
const LEAST_CREDENTIAL = 6;

const codes = (signs: string): number[] => [...signs].map((sign) => sign.charCodeAt(0));
const code = (sign: string): number => sign.charCodeAt(0);
const QUOTES = codes(`"'`);
const WHITE = codes(' \t\n\r\v\f\u00a0\u2028\u2029');
const VALUE_ENDS = [...WHITE, ...codes(`&"'#,;)`)];
const USER_ENDS = [...WHITE, ...codes(`/@"'`)];
const WORD = Array.from({ length: 128 }, (_, index) => /[\w-]/.test(String.fromCharCode(index)));
const CREDENTIAL_SIGNS = codes('.~+/=');
const [BACKSLASH, SLASH, COLON] = [code('\\'), code('/'), code(':')];
const [EQUALS, AT, DOT] = [code('='), code('@'), code('.')];

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * The text without what looks like a secret. The work is linear in its length.
 * @param isCut the text was cut at its end: the beginning of a secret there counts as one
 */
export function redactText(text: string, isCut = false): string {
  const spans = secretSpans(text, isCut);
  if (spans.length === 0) return text;
  let safe = '';
  let at = 0;
  for (const { from, to } of spans) {
    safe += text.slice(at, from) + REDACTED;
    at = to;
  }
  return safe + text.slice(at);
}

/**
 * A JSON value, without secrets at any depth.
 * @param longest maximum length of a string; a longer one is cut before it is redacted
 */
export function redactValue(value: unknown, longest = Number.POSITIVE_INFINITY): unknown {
  if (typeof value === 'string') return cutAndRedact(value, longest);
  if (Array.isArray(value)) return value.map((part) => redactValue(part, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      cutAndRedact(key, longest),
      isSecretKey(key, part) ? REDACTED : redactValue(part, longest),
    ]),
  );
}

function cutAndRedact(text: string, longest: number): string {
  if (text.length <= longest) return redactText(text);
  return `${redactText(text.slice(0, longest), true)}... (${text.length - longest} more characters)`;
}

function isSecretKey(key: string, value: unknown): boolean {
  // Numbers, as in {"token": 3}, and flags reveal nothing.
  const canHoldSecret = typeof value === 'string' || (typeof value === 'object' && value !== null);
  return canHoldSecret && isSecretName(key.slice(-NAME_END), key.length <= NAME_END);
}

/** Whether a name ends in a secret's name: after `_` or `-`, as a word of camelCase, or as a whole. */
function isSecretName(end: string, whole: boolean): boolean {
  const plain = end.replaceAll(/[_-]/g, '').toLowerCase();
  return SECRET_NAMES.some((name) => {
    if (!plain.endsWith(name)) return false;
    const start = startOf(end, name.length);
    if (start === 0) return whole;
    const isHump = /[A-Z]/.test(end[start] ?? '') && /[a-z0-9]/.test(end[start - 1] ?? '');
    return isHump || /[_-]/.test(end[start - 1] ?? '');
  });
}

/** The index where the last letters of a name begin; separators are not counted. */
function startOf(name: string, letters: number): number {
  let index = name.length;
  for (let left = letters; left > 0; ) {
    index -= 1;
    if (!/[_-]/.test(name[index] ?? '')) left -= 1;
  }
  return index;
}

const endsInSecretName = (word: string): boolean => {
  const plain = word.replaceAll(/[_-]/g, '').toLowerCase();
  return SECRET_NAMES.some((name) => plain.endsWith(name));
};

/** Finds what looks like a secret, in order. Each character is read a few times at most. */
export function secretSpans(text: Characters, isCut: boolean): Span[] {
  const spans: Span[] = [];
  const scan = createScan(text, isCut);
  let at = 0;
  while (at < text.length) {
    const span = scan.isWord(at) ? scan.secretAfterWord(at) : scan.userInfo(at);
    if (span.to > span.from) spans.push({ from: span.from, to: span.to });
    at = Math.max(span.to, at + 1);
  }
  return spans;
}

const NOTHING = (at: number): Span => ({ from: at, to: at });

function createScan(text: Characters, isCut: boolean) {
  const isAtCut = (at: number): boolean => isCut && at === text.length;
  const isOneOf = (at: number, signs: readonly number[]): boolean => signs.includes(text.charCodeAt(at));
  const skip = (at: number, while_: (at: number) => boolean): number => {
    let end = at;
    while (end < text.length && while_(end)) end += 1;
    return end;
  };
  const isWord = (at: number): boolean => {
    const found = text.charCodeAt(at);
    return found < 128 && WORD[found] === true;
  };
  const isWhite = (at: number): boolean => isOneOf(at, WHITE);
  const isBackslash = (at: number): boolean => text.charCodeAt(at) === BACKSLASH;
  const read = (from: number, to: number): string => {
    let word = '';
    for (let at = from; at < to; at += 1) word += String.fromCharCode(text.charCodeAt(at));
    return word;
  };
  /** The index after one quotation mark with any backslashes before it; -1 when there is none. */
  const pastQuote = (at: number): number => {
    const mark = skip(at, isBackslash);
    return isOneOf(mark, QUOTES) ? mark + 1 : -1;
  };

  /** `name=value` and `"name":"value"`, the latter also escaped within a string. */
  const assigned = (nameEnd: number): Span | null => {
    if (text.charCodeAt(nameEnd) === EQUALS) {
      const from = nameEnd + 1;
      const to = skip(from, (at) => !isOneOf(at, VALUE_ENDS));
      // "authorization=Bearer abc": the scheme is not secret, but the text after it is.
      const isScheme = to - from <= LEAST_CREDENTIAL && SCHEMES.includes(read(from, to).toLowerCase());
      return isScheme ? null : { from, to };
    }
    const named = pastQuote(nameEnd);
    if (named < 0) return null;
    const colon = skip(named, isWhite);
    if (text.charCodeAt(colon) !== COLON) return null;
    const from = pastQuote(skip(colon + 1, isWhite));
    if (from < 0) return null;
    return { from, to: skip(from, (at) => !isOneOf(at, QUOTES) && !isBackslash(at)) };
  };

  /** `Bearer abc` */
  const credential = (schemeEnd: number): Span | null => {
    const from = skip(schemeEnd, isWhite);
    if (from === schemeEnd) return null;
    const to = skip(from, (at) => isWord(at) || isOneOf(at, CREDENTIAL_SIGNS));
    return to - from >= LEAST_CREDENTIAL || isAtCut(to) ? { from, to } : null;
  };

  /** A bare JSON web token: `eyJ...`, a dot, more, and another dot. */
  const webToken = (from: number, headEnd: number): Span | null => {
    if (text.charCodeAt(headEnd) !== DOT) return null;
    const bodyEnd = skip(headEnd + 1, isWord);
    if (bodyEnd === headEnd + 1) return null;
    if (text.charCodeAt(bodyEnd) !== DOT) return isAtCut(bodyEnd) ? { from, to: bodyEnd } : null;
    return { from, to: skip(bodyEnd + 1, isWord) };
  };

  return {
    isWord,

    /** The secret that a word announces or is; when there is none, an empty span after the word. */
    secretAfterWord(start: number): Span {
      let jsonAt = -1;
      const end = skip(start, (at) => {
        if (jsonAt < 0 && read(at, at + 3) === 'eyJ') jsonAt = at;
        return isWord(at);
      });
      const tail = read(Math.max(start, end - NAME_END), end);
      const scheme = SCHEMES.find((name) => tail.toLowerCase().endsWith(name));
      const found =
        (jsonAt >= 0 ? webToken(jsonAt, end) : null) ??
        (endsInSecretName(tail) ? assigned(end) : null) ??
        (scheme === undefined ? null : credential(end));
      return found ?? NOTHING(end);
    },

    /** `mqtt://user:password@host`: the part before the `@`. */
    userInfo(at: number): Span {
      const isStart =
        text.charCodeAt(at) === COLON &&
        text.charCodeAt(at + 1) === SLASH &&
        text.charCodeAt(at + 2) === SLASH;
      if (!isStart) return NOTHING(at + 1);
      const from = at + 3;
      const to = skip(from, (index) => !isOneOf(index, USER_ENDS));
      return text.charCodeAt(to) === AT || isAtCut(to) ? { from, to } : NOTHING(from);
    },
  };
}
