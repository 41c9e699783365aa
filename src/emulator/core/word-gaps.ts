/** Rules for cutting a long sentence between two words. */
export interface SplitRules {
  readonly afterMs: number;
  /** The first part is at least this long. */
  readonly minPartMs: number;
  /** Length of voice (ms) that counts as one word, unless a dip shows where words end. */
  readonly wordMs: number;
  /** Whether the text of speech of this length has enough characters for a cut. */
  readonly isDue: (lengthMs: number) => boolean;
}

/** A place at which a sentence can be cut. */
export interface WordGap {
  readonly at: number;
  /** Voice before the gap (ms). */
  readonly voicedMs: number;
  /** Silence in the gap (ms); 0 at the end of a word without silence. */
  readonly dipMs: number;
}

/** Shortest silence (ms) that counts as a gap between two words: too short for a pause. */
const DIP_MS = 80;
/** Voice in a row (ms) that begins the next word: less may be a click. */
const WORD_BEGINS_MS = 60;

/** Finds where to cut a sentence without a pause: in the longest dip, otherwise after the last complete word. */
export interface WordGapFinder {
  /**
   * Processes one frame.
   * @param at position of the frame's start
   * @param lengthMs length of the sentence up to there; `voicedMs` is the voice in it
   * @returns where to cut the sentence now; null if it continues
   */
  hear(voiced: boolean, frameMs: number, at: number, lengthMs: number, voicedMs: number): WordGap | null;
  restart(): void;
}

export function createWordGapFinder(getRules: () => SplitRules | null): WordGapFinder {
  let best: WordGap | null = null;
  let dip: WordGap | null = null;
  let words = 0;
  let voiceMs = 0;
  let silenceMs = 0;

  const prefer = (gap: WordGap): void => {
    if (gap.dipMs >= (best?.dipMs ?? 0)) best = gap;
  };

  const restart = (): void => {
    best = null;
    dip = null;
    words = 0;
  };

  return {
    hear(voiced, frameMs, at, lengthMs, voicedMs) {
      const rules = getRules();
      if (!voiced) {
        voiceMs = 0;
        silenceMs += frameMs;
        return null;
      }
      const isLongEnough = rules !== null && lengthMs >= rules.minPartMs;
      if (voiceMs === 0)
        dip = silenceMs >= DIP_MS && isLongEnough ? { at, voicedMs, dipMs: silenceMs } : null;
      voiceMs += frameMs;
      silenceMs = 0;
      if (rules === null) return null;
      const before = words;
      words = Math.floor(voicedMs / rules.wordMs);
      if (words > before && isLongEnough) prefer({ at, voicedMs, dipMs: 0 });
      if (voiceMs < WORD_BEGINS_MS) return null;
      if (dip !== null) prefer(dip);
      dip = null;
      if (best === null || lengthMs < rules.afterMs || !rules.isDue(lengthMs)) return null;
      return best;
    },
    restart,
  };
}
