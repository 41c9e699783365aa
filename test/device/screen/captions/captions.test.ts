import { describe, expect, it } from 'vitest';
import type { Caption } from '../../../../src/device/lane/lane-effect.ts';
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
    expect(take(translation('Hola.')).appends).toEqual([{ language: 'es', text: 'Hola.', breaks: false }]);
  });

  it('separate sentences by a blank when the language has blanks', () => {
    expect(take(translation('Hola.'), translation('Adiós.')).appends.map(({ text }) => text)).toEqual([
      'Hola.',
      ' Adiós.',
    ]);
    const lane = { lane: 'main', source: 'en', targets: ['ja'] };
    let { captions } = takeCaption(NO_CAPTIONS, translation('はい。', { language: 'ja' }), lane, OPTIONS, 0);
    const next = takeCaption(captions, translation('どうぞ。', { language: 'ja' }), lane, OPTIONS, 1);
    captions = next.captions;
    expect(next.appends[0]?.text).toBe('どうぞ。');
  });

  it('show the parts of a translation one after the other', () => {
    const part = (name: string, text: string) => translation(text, { id: 't1', part: name });
    expect(take(part('a', 'uno'), part('b', 'dos')).appends.map(({ text }) => text)).toEqual(['uno', ' dos']);
  });

  it('begin a new line when another lane speaks the same language', () => {
    const clerk = { lane: 'clerk', source: 'es', targets: ['en'] };
    const { captions } = take(source('Hello.'));
    const { appends } = takeCaption(
      captions,
      translation('Good day.', { language: 'en' }),
      clerk,
      OPTIONS,
      9,
    );
    expect(appends).toEqual([{ language: 'en', text: 'Good day.', breaks: true }]);
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
    expect(lookAtCaptions(captions, OPTIONS, 3000).appends.map(({ text }) => text)).toEqual(['one', ' two']);
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
      captions = takeCaption(captions, source('x'), of, OPTIONS, lane).captions;
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
