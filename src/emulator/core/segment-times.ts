import type { Choices } from './choices.ts';
import { steps } from './phrase-book.ts';

/** A stretch of a stream's audio, in seconds. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Describes which part of the stream's audio a text covers: `segments` of a live service's transcripts. */
export interface SegmentTimes {
  /** Seconds of audio that the running task has taken, all its formats together. */
  readonly heardS: number;
  /** Counts audio that the task has taken. @param wallMs when the last of it arrived, on the service's clock */
  take(seconds: number, wallMs: number): void;
  /**
   * Times that a transcript carries with its text; empty if the service sends none.
   * @param phrases of the text, one segment each
   * @param span the covered audio, counted from the first sample that the task took
   */
  describe(phrases: readonly string[], span: Span): { segments?: unknown[] };
}

const round = (seconds: number): number => Math.round(seconds * 1000) / 1000;

interface Piece {
  readonly text: string;
  /** Position as a share of the whole span. */
  readonly from: number;
  readonly to: number;
}

/** Cuts a text into words of equal duration. */
function wordsOf(phrases: readonly string[]): { segment: Piece; words: Piece[] }[] {
  const cut = phrases.map((text) => ({ text, words: steps(text) }));
  const all = Math.max(
    1,
    cut.reduce((sum, { words }) => sum + words.length, 0),
  );
  let said = 0;
  return cut.map(({ text, words }) => {
    const from = said / all;
    const pieces = words.map((word) => ({ text: word.trim(), from: said / all, to: ++said / all }));
    return { segment: { text, from, to: said / all }, words: pieces };
  });
}

export function createSegmentTimes(choices: Choices): SegmentTimes {
  let heardS = 0;
  let zeroWallMs: number | null = null;

  return {
    get heardS() {
      return heardS;
    },
    take(seconds, wallMs) {
      heardS += seconds;
      zeroWallMs ??= wallMs - heardS * 1000;
    },
    describe(phrases, { start, end }) {
      if (choices.segments === 'none') return {};
      const at = (share: number): number => round(start + (end - start) * share);
      const clockAt = (share: number): number => round((zeroWallMs ?? 0) / 1000 + at(share));
      const segments = wordsOf(phrases).map(({ segment, words }) => ({
        text: segment.text,
        start: at(segment.from),
        end: at(segment.to),
        ...(choices.segments === 'times'
          ? {}
          : {
              start_timestamp: clockAt(segment.from),
              end_timestamp: clockAt(segment.to),
              words: words.map(({ text, from, to }) => ({ word: text, start: at(from), end: at(to) })),
            }),
      }));
      return { segments };
    },
  };
}
