/** A sentence is cut between two words once it is long. */
export interface SplitRules {
  readonly afterMs: number;
  /** The first part is at least this long. */
  readonly minPartMs: number;
  /** A word is this much voice; it ends there unless a dip in the voice shows where words end. */
  readonly wordMs: number;
  /** Whether what is said in this long is enough for a sentence of its own. */
  readonly isDue: (lengthMs: number) => boolean;
}

/** A place at which a sentence can be cut. */
export interface WordGap {
  readonly at: number;
  /** Voice before it, milliseconds. */
  readonly voicedMs: number;
  /** Silence before it; 0 at the end of a word without one. */
  readonly dipMs: number;
}

/** Too short for a pause, long enough to be the gap between two words. */
const DIP_MS = 80;
/** This much voice in a row is the next word, not a click. */
const WORD_BEGINS_MS = 60;

/** Finds the place at which a sentence without a pause is cut: the longest dip, or else the last end of a word. */
export interface WordGapFinder {
  /**
   * Hears one frame.
   * @param at position of the frame's begin
   * @param lengthMs of the sentence up to there, and the voice in it
   * @returns where the sentence is to be cut now; null when it goes on
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
