import { describe, expect, it } from 'vitest';
import type { Caption } from '../../../../src/device/lane/state/lane-effect.ts';
import {
  type Append,
  captionsDueAt,
  forgetCaptions,
  lookAtCaptions,
  NO_CAPTIONS,
  takeCaption,
} from '../../../../src/device/screen/captions/captions.ts';
import { plainCaption } from '../../../../src/device/screen/captions/plain-caption.ts';

const LANE = { lane: 'main', source: 'en', targets: ['es', 'pt-br'] };
const OPTIONS = { masksProfanity: false };

const source = (text: string, more: Partial<Caption> = {}): Caption => ({
  kind: 'source',
  isFinal: true,
  id: null,
  part: null,
  language: 'en',
  text,
  ...more,
});
const translation = (text: string, more: Partial<Caption> = {}): Caption =>
  source(text, { kind: 'translation', language: 'es', ...more });

function take(...all: Caption[]) {
  let captions = NO_CAPTIONS;
  const appends: Append[] = [];
  for (const [index, caption] of all.entries()) {
    const step = takeCaption(captions, caption, LANE, OPTIONS, index * 100);
    captions = step.captions;
    appends.push(...step.appends);
  }
  return { captions, appends };
}

describe('captions', () => {
  it('show a translation when it comes', () => {
    expect(take(translation('Hola.')).appends).toEqual([
      { language: 'es', text: 'Hola.', breaks: true, isSpoken: false },
    ]);
  });

  it('begin a block for each sentence', () => {
    const both = take(translation('Hola.', { id: 't1' }), translation('Adiós.', { id: 't2' })).appends;
    expect(both.map(({ text, breaks }) => [text, breaks])).toEqual([
      ['Hola.', true],
      ['Adiós.', true],
    ]);
  });

  it('show the parts of a translation in one block, separated by a blank when the language has blanks', () => {
    const part = (name: string, text: string, language = 'es') =>
      translation(text, { id: 't1', part: name, language });
    const textsOf = (...all: Caption[]) => take(...all).appends.map(({ text, breaks }) => [text, breaks]);
    expect(textsOf(part('a', 'uno'), part('b', 'dos'))).toEqual([
      ['uno', true],
      [' dos', false],
    ]);
    const lane = { lane: 'main', source: 'en', targets: ['ja'] };
    const { captions } = takeCaption(NO_CAPTIONS, part('a', 'はい', 'ja'), lane, OPTIONS, 0);
    const next = takeCaption(captions, part('b', 'どうぞ。', 'ja'), lane, OPTIONS, 1);
    expect(next.appends[0]).toMatchObject({ text: 'どうぞ。', breaks: false });
  });

  it('say whether a person has said the words in this language', () => {
    const both = take(source('Where is the lift?'), translation('¿Dónde está el ascensor?')).appends;
    expect(both.map(({ language, isSpoken }) => [language, isSpoken])).toEqual([
      ['en', true],
      ['es', false],
    ]);
  });

  it('begin a block when another voice has spoken within a sentence', () => {
    const clerk = { lane: 'clerk', source: 'es', targets: ['en'] };
    const partial = (text: string) => source(text, { id: 'a', isFinal: false });
    let { captions } = take(partial('one'), partial('one two'));
    ({ captions } = takeCaption(captions, translation('Hello.', { language: 'en' }), clerk, OPTIONS, 9));
    const { appends } = takeCaption(captions, source('one two', { id: 'a' }), LANE, OPTIONS, 10);
    expect(appends).toMatchObject([{ breaks: true }]);
  });

  it('begin a block when another lane speaks the same language', () => {
    const clerk = { lane: 'clerk', source: 'es', targets: ['en'] };
    const { captions } = take(source('Hello.'));
    const { appends } = takeCaption(
      captions,
      translation('Good day.', { language: 'en' }),
      clerk,
      OPTIONS,
      9,
    );
    expect(appends).toEqual([{ language: 'en', text: 'Good day.', breaks: true, isSpoken: false }]);
  });

  it.each([
    [source('x', { language: 'en-GB' }), 'en'],
    [source('x', { language: 'fr' }), 'en'],
    [source('x', { language: 'es' }), 'es'],
    [translation('x', { language: 'pt' }), 'pt-br'],
    [translation('x', { language: 'und' }), 'es'],
  ])('choose the column when the service names the language %#', (caption, language) => {
    expect(take(caption).appends[0]?.language).toBe(language);
  });

  it('show what waits behind a silent sentence when they look again', () => {
    const { captions } = take(source('one', { id: 'a', isFinal: false }), source('two', { id: 'b' }));
    expect(captionsDueAt(captions)).toBe(3000);
    expect(lookAtCaptions(captions, OPTIONS, 3000).appends.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('forget the words at the end of a conversation, and ignore late texts of it', () => {
    const { captions } = take(source('secret words', { id: 'a', isFinal: false }));
    const after = forgetCaptions(captions);
    expect(JSON.stringify(after)).not.toContain('secret');
    expect(takeCaption(after, source('secret words', { id: 'a' }), LANE, OPTIONS, 9).appends).toEqual([]);
  });

  it('count a sentence once when the service changes its shown words', () => {
    const partial = (text: string) => source(text, { id: 'a', isFinal: false });
    const { captions } = take(partial('a b'), partial('a b'), partial('x y'), partial('x y'), partial('z'));
    expect(captions.diverged).toBe(1);
  });

  it('take no more voices than lanes can have', () => {
    let captions = NO_CAPTIONS;
    for (let lane = 0; lane < 100; lane++) {
      const of = { ...LANE, lane: `lane-${lane}` };
      const step = takeCaption(captions, source('x'), of, OPTIONS, lane);
      expect(step.appends).toHaveLength(1);
      captions = step.captions;
    }
    expect(Object.keys(captions.voices)).toHaveLength(64);
  });

  it('mask profanity when the screen should', () => {
    const step = takeCaption(NO_CAPTIONS, source('Oh shit, no.'), LANE, { masksProfanity: true }, 0);
    expect(step.appends[0]?.text).toBe('Oh s***, no.');
  });
});

describe('plainCaption', () => {
  it.each([
    ['‮evil‬ and ⁦hidden⁩', 'evil and hidden'],
    ['a‎b‏c؜d', 'abcd'],
    ['one\u0000two\u001b[31m\nthree', 'one two [31m three'],
    ['a\u200bb\ufeffc', 'abc'],
    ['می‌خواهم', 'می‌خواهم'],
    ['👩‍👩‍👧', '👩‍👩‍👧'],
    [`x${'\u0301'.repeat(50)}y`, `x${'\u0301'.repeat(5)}y`],
    ['\ud800lone', '\ufffdlone'],
    ['  two   blanks ', 'two blanks'],
    ['a\u{e0041}b', 'ab'],
  ])('cleans %j', (text, expected) => {
    expect(plainCaption(text)).toBe(expected);
  });

  it('keeps the beginning of a text that is too long', () => {
    expect(plainCaption('x'.repeat(50_000))).toHaveLength(10_000);
  });
});
