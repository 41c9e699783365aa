import { describe, expect, test } from 'vitest';
import { createBookmarks } from '../../../src/emulator/core/page-cursor.ts';
import {
  interimText,
  PHRASE_COUNT,
  phrase,
  phraseList,
  phrases,
  phrasesSpoken,
  saidPhrases,
} from '../../../src/emulator/core/phrase-book.ts';
import { fc } from '../../properties.ts';

const LANGUAGES = ['en', 'es', 'de', 'fr', 'it', 'ja'] as const;

describe('the book', () => {
  test.each(LANGUAGES)('has every phrase in %s, no two alike', (language) => {
    const all = Array.from({ length: PHRASE_COUNT }, (_, number) => phrase(number, language));
    expect(all.every((text) => text.length > 5)).toBe(true);
    expect(new Set(all).size).toBe(PHRASE_COUNT);
    expect(PHRASE_COUNT).toBeGreaterThanOrEqual(24);
  });

  test('has a phrase and its translations in one entry', () => {
    expect(phrase(0, 'en')).toBe('Good morning, I would like two tickets for the exhibition.');
    expect(phrase(0, 'es')).toBe('Buenos días, quisiera dos entradas para la exposición.');
    expect(phrase(10, 'fr')).toBe('Je suis allergique à la pénicilline.');
  });

  test('ignores regions, and starts again after the last phrase', () => {
    expect(phrase(3, 'es-mx')).toBe(phrase(3, 'es'));
    expect(phrase(PHRASE_COUNT + 3, 'de')).toBe(phrase(3, 'de'));
    expect(phrase(-1, 'de')).toBe(phrase(PHRASE_COUNT - 1, 'de'));
  });

  test('marks the text when it does not have the language', () => {
    expect(phrase(0, 'pt-br')).toBe(`[pt-br] ${phrase(0, 'en')}`);
  });

  test('joins phrases without spaces in languages without spaces', () => {
    expect(phrases(0, 2, 'ja')).toBe(phrase(0, 'ja') + phrase(1, 'ja'));
    expect(phrases(0, 2, 'en')).toBe(`${phrase(0, 'en')} ${phrase(1, 'en')}`);
  });
});

describe('texts of running speech', () => {
  const voiced = fc.integer({ min: 0, max: 12_000 });
  const language = fc.constantFrom(...LANGUAGES);
  const letters = (text: string) => text.replaceAll(/[\s,.?!？。、¿¡]/g, '');

  test('begin with the partial text when they are final', () => {
    fc.assert(
      fc.property(fc.nat(100), language, voiced, voiced, (first, spoken, a, b) => {
        const amount = phrasesSpoken(first, spoken, Math.max(a, b));
        const final = letters(phrases(first, amount, spoken));
        expect(final.startsWith(letters(interimText(first, spoken, Math.min(a, b))))).toBe(true);
      }),
    );
  });

  test('grow while they are partial, and rewrite their end', () => {
    const said = Array.from({ length: 40 }, (_, step) => interimText(0, 'en', step * 100));
    expect(said.at(-1)?.length).toBeGreaterThan(said[5]?.length ?? 0);
    const rewritten = said.some((text, at) => at > 0 && !`${text} `.startsWith(`${said[at - 1]} `));
    expect(rewritten).toBe(true);
  });

  test('are no longer than the speech, in any language', () => {
    const said = (voicedMs: number, language: string, wholeShare = 0.7): string =>
      saidPhrases(0, { language: 'en', voicedMs, wholeShare }, language).join('|');
    expect(said(0, 'en')).toBe('Good');
    expect(said(1500, 'en')).toBe('Good morning, I would');
    expect(said(1500, 'es')).toBe('Buenos días, quisiera dos');
    expect(said(3000, 'es')).toBe(phrase(0, 'es'));
    expect(said(4600, 'en')).toBe(phraseList(0, 2, 'en').join('|'));
    expect(said(4600, 'ja').split('|')).toHaveLength(2);
    // A fast speaker.
    expect(said(1900, 'en')).toBe('Good morning, I would like');
    expect(said(1900, 'en', 0.5)).toBe(phrase(0, 'en'));
    expect(said(1890, 'en', 0.5)).toBe('Good morning, I would like');
  });

  test('have more phrases with more voice, and at least one', () => {
    expect(phrasesSpoken(0, 'en', 0)).toBe(1);
    expect(phrasesSpoken(0, 'en', 3800)).toBe(1);
    expect(phrasesSpoken(0, 'en', 6000)).toBe(2);
    expect(phrasesSpoken(0, 'en', 60_000)).toBeGreaterThan(10);
  });
});

describe('places in the book', () => {
  test('continue in the next stream of a client, and start at the first phrase for others', () => {
    const bookmarks = createBookmarks(5);
    bookmarks.of('kiosk').next += 3;
    expect(bookmarks.of('kiosk').next).toBe(8);
    expect(bookmarks.of('other').next).toBe(5);
    bookmarks.of(null).next += 1;
    expect(bookmarks.of(null).next).toBe(5);
  });

  test('are kept for a thousand clients; the oldest are forgotten first', () => {
    const bookmarks = createBookmarks(0);
    bookmarks.of('first').next = 9;
    for (let client = 0; client < 1000; client++) bookmarks.of(`client ${client}`);
    expect(bookmarks.of('first').next).toBe(0);
  });
});
