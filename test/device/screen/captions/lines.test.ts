import { describe, expect, it } from 'vitest';
import {
  advanceLines,
  appendText,
  type Lines,
  layOutAgain,
  layOutRead,
  noLines,
} from '../../../../src/device/screen/captions/lines.ts';
import { fc } from '../../../properties.ts';
import { partials } from './drawn.ts';
import { erasureOf, greedyStabilized, latestTexts, paintedAfterEach } from './erasure.ts';

const room = (width: number, rows = 2, gap = 0) => ({
  width,
  rows,
  gap,
  measure: (text: string) => text.length,
});
const append = (lines: Lines, text: string, breaks = false): Lines =>
  appendText(lines, { text, breaks, isSpoken: false });
/** What a panel of two lines shows. */
const textsOf = ({ lines }: Lines) => lines.slice(-2).map(({ text }) => text.trimEnd());

function lay(text: string, width: number, language = 'en'): Lines {
  return advanceLines(append(noLines(language), text), room(width), 0).lines;
}

/** Advances until nothing waits; returns the time of each scroll. */
function scrolls(given: Lines, width: number): number[] {
  const moments: number[] = [];
  let { lines, wakeAt } = advanceLines(given, room(width), 0);
  while (wakeAt !== null) {
    moments.push(wakeAt);
    ({ lines, wakeAt } = advanceLines(lines, room(width), wakeAt));
  }
  return moments;
}

const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');

describe('the lines of captions', () => {
  it('hold still when the service rewrites its partials', () => {
    fc.assert(
      fc.property(partials, fc.integer({ min: 4, max: 40 }), ({ language, said }, width) => {
        expect(erasureOf(paintedAfterEach(said, language, width))).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('erase less than the latest texts and less than Chromium’s algorithm on the same partials', () => {
    let [ours, latest, chromium] = [0, 0, 0];
    for (const { language, said } of fc.sample(partials, { numRuns: 500, seed: 1 })) {
      ours += erasureOf(paintedAfterEach(said, language, 30));
      latest += erasureOf(latestTexts(said));
      chromium += erasureOf(greedyStabilized(said, 1));
    }
    expect(ours).toBe(0);
    expect(latest).toBeGreaterThan(0);
    expect(chromium).toBeGreaterThan(0);
  });

  it('fill two lines at once and keep the rest', () => {
    const lines = lay('one two three four five six', 10);
    expect(textsOf(lines)).toEqual(['one two', 'three four']);
    expect(lines.waiting).toHaveLength(2);
  });

  it('move up by one line when the upper one can have been read', () => {
    const lines = lay('one two three four five six', 10);
    const { wakeAt } = advanceLines(lines, room(10), 10);
    // Two words at the pace of 140 to 180 a minute, but a line stays 1.5 s at least.
    expect(wakeAt).toBe(1500);
    const after = advanceLines(lines, room(10), 1500).lines;
    expect(textsOf(after)).toEqual(['three four', 'five six']);
    expect(after.lines.slice(0, 2)).toEqual(lines.lines);
  });

  it('leave the upper line to a reader of 140 words a minute when nothing waits', () => {
    let lines = noLines('en');
    let wakeAt: number | null = null;
    for (let word = 0; word < 15; word++) {
      lines = append(lines, 'word ');
      ({ lines, wakeAt } = advanceLines(lines, room(34), 0));
    }
    expect(lines.lines).toHaveLength(2);
    expect(wakeAt).toBeLessThanOrEqual((7 / 140) * 60_000);
    expect(wakeAt).toBeGreaterThan((7 / 145) * 60_000);
  });

  it('move up by one line at a time', () => {
    const moments = scrolls(append(noLines('en'), 'a b c d e f g h'), 1);
    for (const [index, at] of moments.entries())
      expect(at - (moments[index - 1] ?? 0)).toBeGreaterThanOrEqual(500);
    expect(moments).toHaveLength(6);
  });

  it.each([
    [50, 'is calm'],
    [500, 'is pressed'],
  ])('show %i waiting words at 140 to 180 words a minute, because the reader %s', (count) => {
    const width = 34;
    const last = scrolls(append(noLines('en'), words(count)), width).at(-1) ?? 0;
    // The last scroll brings the last line; the two before it are being read.
    const scrolled = count - 2 * 7;
    expect(last).toBeGreaterThanOrEqual(((scrolled - 7) / 180) * 60_000);
    expect(last).toBeLessThanOrEqual((scrolled / 140) * 60_000 + 1500);
  });

  it('show every word when much text waits', () => {
    let lines = append(noLines('en'), words(300));
    const seen = new Map<number, string>();
    for (let now = 0; now < 200_000; now += 100) {
      ({ lines } = advanceLines(lines, room(30), now));
      for (const { id, text } of lines.lines) seen.set(id, text);
    }
    expect([...seen.values()].join('').trim()).toBe(words(300));
  });

  it('show new words at once when earlier ones have been read', () => {
    const lines = lay('one two three four', 10);
    const after = advanceLines(append(lines, ' five'), room(10), 60_000);
    expect(textsOf(after.lines)).toEqual(['three four', 'five']);
  });

  it('count the space between two blocks, and leave it out within one', () => {
    const four = (breaks: boolean): Lines =>
      ['one', 'two', 'three', 'four'].reduce(
        (lines, text, at) => append(lines, text, breaks || at === 0),
        noLines('en'),
      );
    const shownIn = (lines: Lines, rows: number): number => {
      const laid = advanceLines(lines, room(5, rows, 0.5), 0).lines;
      return laid.lines.length;
    };
    expect([shownIn(four(true), 4), shownIn(four(true), 4.5), shownIn(four(true), 5.5)]).toEqual([3, 3, 4]);
    expect(shownIn(four(false), 4)).toBe(4);
  });

  it('keep what has left the panel, up to 200 lines', () => {
    const { lines } = layOutRead(append(noLines('en'), words(300)), room(4));
    expect(lines).toHaveLength(200);
    expect(lines.at(-1)?.text.trim()).toBe('word');
  });

  it('begin a new line when another speaker begins', () => {
    const lines = append(lay('Hello.', 20), 'Good morning.', true);
    expect(textsOf(advanceLines(lines, room(20), 10).lines)).toEqual(['Hello.', 'Good morning.']);
  });

  it('keep punctuation on the line of its word when it comes later', () => {
    const lines = append(lay('one three', 9), ', and');
    expect(textsOf(advanceLines(lines, room(9), 10).lines)).toEqual(['one three,', 'and']);
  });

  it.each([
    ['zh', '我想要两张展览的票，谢谢。', 6, ['我想要两张', '展览的票，']],
    ['ja', '展覧会のチケット、二枚。', 8, ['展覧会の', 'チケット、二枚。']],
    ['th', 'ฉันต้องการตั๋วสองใบ', 12, ['ฉันต้องการ', 'ตั๋วสองใบ']],
  ])('break between words in the language %s', (language, text, width, expected) => {
    expect(textsOf(lay(text, width, language))).toEqual(expected);
  });

  it('keep an opening bracket with its word', () => {
    expect(textsOf(lay('one (two) «three»', 8))).toEqual(['one', '(two)']);
  });

  it('cut a word that is wider than a line between its letters', () => {
    expect(textsOf(lay('abcdefghij', 4))).toEqual(['abcd', 'efgh']);
    expect(textsOf(lay('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 8))).toEqual(['👩‍👩‍👧', '👩‍👩‍👧']);
  });

  it('take a letter that is wider than the line', () => {
    expect(textsOf(lay('WW', 0.5))).toEqual(['W', 'W']);
  });

  it('keep the text when the width changes', () => {
    const lines = advanceLines(layOutAgain(lay('one two three four', 10), room(20)), room(20), 5).lines;
    expect(textsOf(lines)).toEqual(['one two three four']);
  });

  it('show the end of a text when a page begins', () => {
    const lines = layOutRead(append(noLines('en'), `${words(300)} end`), room(20));
    expect(textsOf(lines).at(-1)).toMatch(/end$/);
    expect(lines.waiting).toEqual([]);
    const next = advanceLines(append(lines, ' of all these words'), room(20), 5).lines;
    expect(next.waiting).toEqual([]);
  });

  it('lay out 10,000 characters without a blank line by line', () => {
    const lines = append(noLines('en'), 'a'.repeat(10_000));
    expect(scrolls(lines, 20).length).toBeGreaterThan(400);
  });
});
