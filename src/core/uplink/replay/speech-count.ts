/** Speech in chunks. */
export interface SpeechCount {
  /** Those of which the voice detector is sure. */
  readonly sure: number;
  /** Those in which somebody may speak, in a stretch of which it is sure somewhere. */
  readonly likely: number;
  /** All in which somebody may speak. */
  readonly possible: number;
  /** When the first of the likely ones began, and of all; monotonic milliseconds. Null: there is none. */
  readonly likelySince: number | null;
  readonly possibleSince: number | null;
  /** When the last one ended. */
  readonly until: number | null;
}

export const NO_SPEECH: SpeechCount = {
  ...{ sure: 0, likely: 0, possible: 0 },
  ...{ likelySince: null, possibleSince: null, until: null },
};

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
