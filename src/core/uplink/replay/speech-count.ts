import type { SpeechCount } from './record.ts';

export function addSpeech(one: SpeechCount, other: SpeechCount): SpeechCount {
  return {
    sure: one.sure + other.sure,
    likely: one.likely + other.likely,
    possible: one.possible + other.possible,
    likelySince: earlier(one.likelySince, other.likelySince),
    possibleSince: earlier(one.possibleSince, other.possibleSince),
    until:
      one.until === null || other.until === null
        ? (one.until ?? other.until)
        : Math.max(one.until, other.until),
  };
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** @returns what is left of one without another; its times stay as they are */
export function lessSpeech(one: SpeechCount, other: SpeechCount): SpeechCount {
  return {
    ...one,
    sure: Math.max(0, one.sure - other.sure),
    likely: Math.max(0, one.likely - other.likely),
    possible: Math.max(0, one.possible - other.possible),
  };
}
