/** Korean syllables in Unicode's order (chapter 3.12): 19 leading consonants, 21 vowels, 28 trailing consonants or none. */
const FIRST = 0xac00;
const LEADS = [...'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ'];
const VOWELS = [...'ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ'];
const TAILS = [''].concat(Array.from('ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ'));
/** Two letters that are typed one after the other and written as one. */
const PAIRS = new Map(
  'ㅗㅏㅘ ㅗㅐㅙ ㅗㅣㅚ ㅜㅓㅝ ㅜㅔㅞ ㅜㅣㅟ ㅡㅣㅢ ㄱㅅㄳ ㄴㅈㄵ ㄴㅎㄶ ㄹㄱㄺ ㄹㅁㄻ ㄹㅂㄼ ㄹㅅㄽ ㄹㅌㄾ ㄹㅍㄿ ㄹㅎㅀ ㅂㅅㅄ'
    .split(' ')
    .map((pair) => [pair.slice(0, 2), pair.slice(2)]),
);
const PARTS = new Map(Array.from(PAIRS, ([parts, letter]) => [letter, parts]));

/** Adds a letter to what is written, as Korean keyboards do: a consonant closes a syllable until a vowel takes it along. */
export function withJamo(written: string, jamo: string): string {
  const start = written.slice(0, -1);
  const last = written.slice(-1);
  const syllable = partsOf(last);
  const isVowel = VOWELS.includes(jamo);
  if (syllable === null) {
    if (isVowel && LEADS.includes(last)) return start + joined(last, jamo);
    const pair = isVowel ? PAIRS.get(last + jamo) : undefined;
    return pair === undefined ? written + jamo : start + pair;
  }
  const { lead, vowel, tail } = syllable;
  if (!isVowel) {
    const closed = tail === '' ? jamo : PAIRS.get(tail + jamo);
    const isClosed = closed !== undefined && TAILS.includes(closed);
    return isClosed ? start + joined(lead, vowel, closed) : written + jamo;
  }
  if (tail === '') {
    const pair = PAIRS.get(vowel + jamo);
    return pair === undefined ? written + jamo : start + joined(lead, pair);
  }
  const [stays = '', goes] = PARTS.get(tail) ?? '';
  const [kept, taken] = goes === undefined ? ['', tail] : [stays, goes];
  return start + joined(lead, vowel, kept) + joined(taken, jamo);
}

/** Takes back the letter that was typed last; null: what is written does not end with a syllable. */
export function withoutJamo(written: string): string | null {
  const start = written.slice(0, -1);
  const syllable = partsOf(written.slice(-1));
  if (syllable === null) return null;
  const { lead, vowel, tail } = syllable;
  if (tail !== '') return start + joined(lead, vowel, PARTS.get(tail)?.slice(0, 1));
  const first = PARTS.get(vowel)?.slice(0, 1);
  return start + (first === undefined ? lead : joined(lead, first));
}

export const isJamo = (key: string): boolean => LEADS.includes(key) || VOWELS.includes(key);

function partsOf(letter: string): { lead: string; vowel: string; tail: string } | null {
  const number = letter === '' ? -1 : letter.charCodeAt(0) - FIRST;
  const lead = LEADS[Math.floor(number / (VOWELS.length * TAILS.length))];
  const vowel = VOWELS[Math.floor(number / TAILS.length) % VOWELS.length];
  const tail = TAILS[number % TAILS.length];
  return lead === undefined || vowel === undefined || tail === undefined ? null : { lead, vowel, tail };
}

function joined(lead: string, vowel: string, tail = ''): string {
  const number =
    (LEADS.indexOf(lead) * VOWELS.length + VOWELS.indexOf(vowel)) * TAILS.length + TAILS.indexOf(tail);
  return String.fromCharCode(FIRST + number);
}
