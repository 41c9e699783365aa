import { describe, expect, it } from 'vitest';
import {
  PHRASE_CODES,
  PHRASE_LANGUAGES,
  PHRASES,
  phraseLanguage,
  spokenWords,
} from '../../../src/installer/core/phrases.ts';

const each = PHRASE_CODES.flatMap((code) => PHRASE_LANGUAGES.map((language) => ({ code, language })));

describe('phrases', () => {
  it.each(each)('$code in $language consist of short sentences', ({ code, language }) => {
    const words = PHRASES[code].words[language];
    expect(words).toMatch(/^\p{Lu}.*\.$/u);
    expect(words.length).toBeLessThan(125);
    expect(words.normalize('NFC')).toBe(words);
  });

  it('differ from each other in every language', () => {
    for (const language of PHRASE_LANGUAGES) {
      const words = PHRASE_CODES.map((code) => PHRASES[code].words[language]);
      expect(new Set(words).size).toBe(words.length);
    }
  });

  it('name the same files in every language', () => {
    const filesIn = (text: string): string[] => text.match(/dragoman[a-z.-]*[a-z]/g) ?? [];
    for (const { code, language } of each)
      expect([code, language, filesIn(PHRASES[code].words[language])]).toEqual([
        code,
        language,
        filesIn(PHRASES[code].words.en),
      ]);
  });

  it.each(each)('$code in $language is spoken without file extensions', ({ code, language }) => {
    expect(spokenWords(code, language)).not.toMatch(/\.[a-z]/);
    expect(spokenWords(code, language)).not.toMatch(/[<>&|\\]/);
  });

  it.each([
    [[{ source: 'de', targets: ['en'] }], 'de'],
    [[{ source: 'pt-br', targets: ['en'] }], 'pt'],
    [[{ source: 'ja', targets: ['zh-Hant', 'it', 'fr'] }], 'it'],
    [
      [
        { source: 'ja', targets: ['ko'] },
        { source: 'ko', targets: ['es'] },
      ],
      'es',
    ],
    [[{ source: 'FR', targets: [] }], 'fr'],
    [[{ source: 'ja', targets: ['ko'] }], 'en'],
    [[], 'en'],
  ])('are in the language of the kiosk with the lanes %j: %s', (lanes, language) => {
    expect(phraseLanguage(lanes)).toBe(language);
  });
});
