import type { Choices } from './choices.ts';
import type { StreamFault } from './fault.ts';
import { steps } from './phrase-book.ts';

/** A stretch of a stream's audio, in seconds. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

type WrongTimes = StreamFault & { kind: 'wrong_times' };

/** Says of each text which of the stream's audio it covers: `segments` of a live service's transcripts. */
export interface SegmentTimes {
  /** Seconds of audio that the running task has taken, all its formats together. */
  readonly heardS: number;
  /** This much audio was taken, and has come completely at this moment on the service's clock. */
  take(seconds: number, wallMs: number): void;
  /** Another task has been set on a running pipeline. */
  replan(): void;
  /** Times are told wrong, in this way, until a moment of the stream's clock; null ends that. */
  spoil(fault: WrongTimes | null, until: number): void;
  /**
   * What a transcript carries beside its text; nothing where times are not given.
   * @param phrases of the text, one segment each
   * @param span of the audio that is covered, from the first sample that the task took
   */
  describe(sentence: string, phrases: readonly string[], span: Span, now: number): { segments?: unknown[] };
}

const round = (seconds: number): number => Math.round(seconds * 1000) / 1000;

interface Piece {
  readonly text: string;
  /** Shares of the whole span. */
  readonly from: number;
  readonly to: number;
}

/** Cuts a text into its words, each as long as the others: so the book is spoken. */
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
  let zeroS = 0;
  let zeroWallMs: number | null = null;
  let wrong: { fault: WrongTimes; until: number; anchorS: number } | null = null;
  let current: { sentence: string; span: Span } | null = null;
  let before: Span | null = null;

  const remember = (sentence: string, span: Span): void => {
    if (current !== null && current.sentence !== sentence) before = current.span;
    current = { sentence, span };
  };

  /** The span as it is told, counted from the zero in force. */
  const told = (span: Span, now: number): Span => {
    const right = { start: Math.max(0, span.start - zeroS), end: Math.max(0, span.end - zeroS) };
    if (wrong === null) return right;
    const { fault, until, anchorS } = wrong;
    if (now >= until) {
      wrong = null;
      return right;
    }
    const byS = fault.ms / 1000;
    switch (fault.form) {
      case 'off':
        return { start: right.start + byS, end: right.end + byS };
      case 'beyond':
        return { start: right.start, end: heardS - zeroS + byS };
      case 'backwards':
        return {
          start: Math.max(0, 2 * anchorS - span.end - zeroS),
          end: Math.max(0, 2 * anchorS - span.start - zeroS),
        };
      case 'inverted':
        return { start: right.end, end: right.start };
      case 'stale':
        return before === null ? { start: 0, end: 0 } : { start: before.start, end: before.end };
      default:
        return fault.form satisfies never;
    }
  };

  return {
    get heardS() {
      return heardS;
    },
    take(seconds, wallMs) {
      heardS += seconds;
      zeroWallMs ??= wallMs - (heardS - zeroS) * 1000;
    },
    replan() {
      if (choices.segmentZero === 'kept') return;
      zeroS = heardS;
      zeroWallMs = null;
    },
    spoil(fault, until) {
      wrong = fault === null ? null : { fault, until, anchorS: heardS };
    },
    describe(sentence, phrases, span, now) {
      if (choices.segments === 'none') return {};
      remember(sentence, span);
      const { start, end } = told(span, now);
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
