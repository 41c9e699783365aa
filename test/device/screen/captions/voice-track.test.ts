import { describe, expect, it } from 'vitest';
import { plainCaption } from '../../../../src/device/screen/captions/plain-caption.ts';
import {
  EMPTY_TRACK,
  lookAtTrack,
  nextLookAt,
  takeText,
} from '../../../../src/device/screen/captions/voice-track.ts';
import { fc } from '../../../properties.ts';
import { partials } from './drawn.ts';
import { shownAfterEach } from './erasure.ts';

/** Texts of one sentence, 250 ms apart; a text that ends with `!` is final. */
function show(language: string, ...texts: string[]) {
  const said = texts.map((text, index) => ({
    key: 's1',
    text: text.replace(/!$/, ''),
    isFinal: text.endsWith('!'),
    at: index * 250,
  }));
  return shownAfterEach(said, language);
}
const lastOf = (language: string, ...texts: string[]) => show(language, ...texts).shown.at(-1);

describe('the captions of one voice', () => {
  it('say what the final text says when the service has changed no shown word', () => {
    fc.assert(
      fc.property(partials, ({ language, said }) => {
        const [first] = said;
        const texts = said.map((one) => ({ ...one, key: 's', isFinal: false }));
        const last = { ...texts.at(-1), key: 's', text: first?.text ?? '', isFinal: true, at: 90_000 };
        const { shown, diverged } = shownAfterEach([...texts, last], language);
        if (diverged === 0) expect(shown.at(-1)).toBe(plainCaption(last.text));
      }),
      { numRuns: 1000 },
    );
  });

  it('show a word when two partials agree', () => {
    expect(show('en', 'I wood', 'I would like', 'I would like two').shown).toEqual([
      '',
      'I',
      'I would like',
      'I would like',
    ]);
  });

  it('show the rest at once when the final text comes', () => {
    expect(lastOf('en', 'I would', 'I would like', 'I would like two tickets.!')).toBe(
      'I would like two tickets.',
    );
  });

  it.each([
    ['zh', '我想要', '我想要两张票', '我想要两张票。!'],
    ['ja', '展覧会の', '展覧会のチケット', '展覧会のチケットを二枚。!'],
    ['ko', '전시회 표', '전시회 표 두', '전시회 표 두 장 주세요.!'],
    ['th', 'ฉันต้องการ', 'ฉันต้องการตั๋ว', 'ฉันต้องการตั๋วสองใบ!'],
    ['ar', 'أريد تذكرتين', 'أريد تذكرتين للمعرض', 'أريد تذكرتين للمعرض من فضلك.!'],
  ])('show words before the end in the language %s', (language, first, second, last) => {
    const { shown, diverged } = show(language, first, second, last);
    expect(shown[1]?.length).toBeGreaterThan(1);
    expect(first.startsWith(shown[1] ?? '-')).toBe(true);
    expect(shown.at(-1)).toBe(last.replace('!', ''));
    expect(diverged).toBe(0);
  });

  it.each([
    ['I can not', 'I can not', 'I cannot go.!', 'I can not go.'],
    ['I want two', 'I want two', 'I want 2 tickets!', 'I want two tickets'],
    ['I going', 'I going', 'I am going home!', 'I going home'],
    ['I am going', 'I am going', 'I am now going home.!', 'I am going home.'],
    ['I really do want', 'I really do want', 'I want two!', 'I really do want two'],
    ['word', 'word', 'world and more!', 'word and more'],
    ['a b c', 'a b c', 'a b!', 'a b c'],
  ])(
    'go on after the words that resemble the shown ones when "%s" was shown and "%s" is final',
    (...texts) => {
      const expected = texts.pop();
      const { shown, diverged } = show('en', ...texts);
      expect(shown.at(-1)).toBe(expected);
      expect(diverged).toBe(1);
    },
  );

  it('append nothing twice when a text that diverges is repeated', () => {
    const { shown } = show('en', 'can not', 'can not', 'cannot go', 'cannot go', 'cannot go', 'cannot go!');
    expect(shown.at(-1)).toBe('can not go');
  });

  it('ignore texts of a finished sentence', () => {
    expect(lastOf('en', 'one!', 'one two', 'one two', 'three!')).toBe('one');
  });

  it('keep the order of sentences when the second begins before the first has ended', () => {
    const said = (key: string, text: string, isFinal: boolean, at: number) => ({ key, text, isFinal, at });
    const texts = [
      said('a', 'where is', false, 0),
      said('b', 'the next', false, 200),
      said('b', 'the next one', false, 400),
      said('a', 'where is it?', true, 600),
      said('b', 'the next one.', true, 800),
    ];
    const { shown } = shownAfterEach(texts, 'en');
    expect(shown.slice(0, 3)).toEqual(['', '', '']);
    expect(shown[3]).toBe('where is it?the next');
    expect(shown[4]).toBe('where is it?the next one.');
  });

  it('show a sentence without news when the next one has waited for three seconds', () => {
    let { track } = takeText(EMPTY_TRACK, { key: 'a', text: 'where is', isFinal: false }, 'en', 0);
    expect(nextLookAt(track)).toBeNull();
    ({ track } = takeText(track, { key: 'b', text: 'hello', isFinal: true }, 'en', 500));
    expect(nextLookAt(track)).toBe(3000);
    expect(lookAtTrack(track, 'en', 2999).pieces).toEqual([]);
    expect(lookAtTrack(track, 'en', 3000).pieces).toEqual([
      { text: 'where is', starts: true, startsSentence: true },
      { text: 'hello', starts: true, startsSentence: true },
    ]);
  });

  it('separate sentences without names by their final texts', () => {
    const texts = ['one', 'one two', 'one two', 'three'].map((text, at) => ({
      key: null,
      text,
      at,
      isFinal: at === 1 || at === 3,
    }));
    expect(shownAfterEach(texts, 'en').shown.at(-1)).toBe('one twothree');
  });

  it('compare long texts within milliseconds', () => {
    const long = (word: string) => `${word} `.repeat(2500);
    const { shown } = show('en', long('alpha'), long('alpha'), `${long('omega')} end!`);
    expect(shown.at(-1)?.length).toBeLessThan(20_001);
  });
});
