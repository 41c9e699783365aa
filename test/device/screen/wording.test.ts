import { describe, expect, it } from 'vitest';
import { WORDED_LANGUAGES, wordedLanguage, wordingOf } from '../../../src/device/screen/wording.ts';

describe('the words of the page', () => {
  it.each(WORDED_LANGUAGES)(
    'has each text in %s, and the time where a kiosk is closed until it',
    (language) => {
      const wording = wordingOf(language);
      for (const [key, text] of Object.entries(wording))
        expect([key, text]).toEqual([key, expect.stringMatching(/^\S.*\S$|^\S$/)]);
      expect(wording.until).toContain('{t}');
      expect(wording.closed).not.toContain('{t}');
      expect(wording.coming).toContain('{name}');
      expect(wording.staffComing).not.toContain('{');
    },
  );

  it('are those of the language without its region, and English for a language that the page does not know', () => {
    expect(wordingOf('pt-BR').listening).toBe('A ouvir');
    expect(wordingOf('is').listening).toBe('Listening');
    expect([wordedLanguage('ZH-Hant'), wordedLanguage('is')]).toEqual(['zh', 'en']);
  });
});
