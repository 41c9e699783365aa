import { describe, expect, it } from 'vitest';
import { takeWhole } from '../../../src/page/kiosk/whole-sentences.ts';

const text = (words: string, breaks = false) => ({ text: words, breaks });

/** What is announced after each text. */
function announced(texts: readonly ReturnType<typeof text>[]): string[][] {
  let begun = '';
  return texts.map((one) => {
    const step = takeWhole(begun, [one]);
    begun = step.begun;
    return [...step.whole];
  });
}

describe('whole sentences', () => {
  it('are complete once, when their last words have come', () => {
    const words = [
      text('Where', true),
      text(' is the'),
      text(' lift?'),
      text(' I'),
      text(' use a wheelchair.'),
    ];
    expect(announced(words)).toEqual([[], [], ['Where is the lift?'], [], ['I use a wheelchair.']]);
  });

  it('are complete without a mark when the next one begins', () => {
    expect(announced([text('ไม่เป็นไร', true), text('ขอบคุณ', true), text('', true), text('', true)])).toEqual([
      [],
      ['ไม่เป็นไร'],
      ['ขอบคุณ'],
      [],
    ]);
  });

  it.each([
    'Really!',
    '「はい。」',
    'Il a dit « oui. »',
    'कब?',
    'कल।',
    '电梯在哪？',
    'أين المصعد؟',
    'So … ',
    '(No.)',
    '"No."',
  ])('end at the mark of their script: %s', (sentence) => {
    expect(announced([text(sentence, true)])).toEqual([[sentence.trim()]]);
  });

  it('do not end within a number or a word', () => {
    expect(announced([text('It costs 3.50'), text(' euros, Mr'), text(' Smith,')])).toEqual([[], [], []]);
  });

  it('come in their order when several texts come at once', () => {
    const { whole, begun } = takeWhole('And', [text(' then?'), text('Yes.', true), text('Wait', true)]);
    expect([whole, begun]).toEqual([['And then?', 'Yes.'], 'Wait']);
  });
});
