import type { CaptionText } from '../../../../src/device/screen/captions/voice-track.ts';
import { fc } from '../../../properties.ts';

const WORDS: Readonly<Record<string, readonly string[]>> = {
  en: ['I', 'would', 'like', 'two', 'tickets', '2', 'please', "don't", 'can', 'not', 'cannot', ',', '.'],
  zh: ['我', '想要', '两张', '展览', '的', '票', '，', '。', '中国', '中'],
  ja: ['展覧会', 'の', 'チケット', 'を', '二枚', 'ください', '。', '、'],
  ko: ['전시회', '표', '두', '장', '주세요', '.'],
  th: ['ฉัน', 'ต้องการ', 'ตั๋ว', 'สอง', 'ใบ', 'ครับ'],
  ar: ['أريد', 'تذكرتين', 'للمعرض', 'من', 'فضلك', '؟', '\u202e', '\u2066'],
};
export const LANGUAGES = Object.keys(WORDS);

const BLANKS = new Set(['en', 'ko', 'ar']);

/** One step of a made-up recogniser: how many words its next text has, and which of them it has changed. */
interface Turn {
  readonly sentence: number;
  readonly length: number;
  readonly changedAt: number;
  readonly change: number;
  readonly isFinal: boolean;
  readonly afterMs: number;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  sentence: fc.nat(2),
  length: fc.nat(9),
  changedAt: fc.nat(12),
  change: fc.nat(20),
  isFinal: fc.boolean(),
  afterMs: fc.nat(4000),
});

export interface Said extends CaptionText {
  readonly at: number;
}

/** Texts of a recogniser that rewrites, shortens, restarts and mixes its sentences. */
export const partials: fc.Arbitrary<{ readonly language: string; readonly said: readonly Said[] }> = fc
  .record({
    language: fc.constantFrom(...LANGUAGES),
    isNamed: fc.boolean(),
    base: fc.array(fc.nat(20), { minLength: 10, maxLength: 10 }),
    turns: fc.array(turn, { minLength: 1, maxLength: 12 }),
  })
  .map(({ language, isNamed, base, turns }) => {
    const words = WORDS[language] ?? [];
    const wordOf = (index: number): string => words[index % words.length] ?? '';
    let at = 0;
    const said = turns.map(({ sentence, length, changedAt, change, isFinal, afterMs }): Said => {
      at += afterMs;
      const numbers = base.map((number, index) => (index === changedAt ? change : number + sentence));
      const text = numbers
        .slice(0, length)
        .map(wordOf)
        .join(BLANKS.has(language) ? ' ' : '');
      return { key: isNamed ? `s${sentence}` : null, text, isFinal, at };
    });
    return { language, said };
  });
