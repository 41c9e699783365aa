import type { TalkMeasures } from './talk-meter.ts';

/** What a measure adds to the score for each unit of it; what lies outside the range counts as the end of the range. */
interface Part {
  readonly of: keyof TalkMeasures;
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

/**
 * Fitted (logistic regression) to recordings of speech in English, Spanish and French in rooms with fans, hiss and babble, dry
 * and reverberated, pitched down as men and up as children, also single words and over a telephone's codec, against one to four
 * hours of each kind of noise. `npm run voices` judges it by other speakers, too.
 */
const PARTS: readonly Part[] = [
  { of: 'overFloor', from: 0, to: 20, weight: -0.725 },
  { of: 'over', from: 0, to: 1, weight: 17.038 },
  { of: 'overMedian', from: 0, to: 18, weight: 0.657 },
  { of: 'range', from: 0, to: 35, weight: -0.457 },
  { of: 'syllables', from: 0, to: 9, weight: 0.266 },
  // Tones and hum hardly move at this rate.
  { of: 'syllables', from: 0, to: 1.6, weight: 4.639 },
  { of: 'syllables', from: 5, to: 9, weight: -1.153 },
  { of: 'standing', from: 0, to: 1, weight: -1.473 },
  // By itself: whatever else there is, nobody speaks at a level that stands still.
  { of: 'unrest', from: 0, to: 0.1, weight: 150 },
  // Also by itself: a door falls shut and dies away, a voice rises as often as it falls.
  { of: 'falling', from: 0.3, to: 0.8, weight: -20 },
  { of: 'voiced', from: 0, to: 0.8, weight: 5.126 },
  { of: 'allVoiced', from: 0, to: 1, weight: -3.868 },
  { of: 'oneness', from: 0, to: 1, weight: 1.152 },
  { of: 'pieces', from: 0, to: 4, weight: 0.721 },
  { of: 'gliding', from: 0, to: 0.45, weight: 33.416 },
  { of: 'steady', from: 0, to: 0.4, weight: -48.1 },
  { of: 'turning', from: 0, to: 0.5, weight: -54.924 },
  { of: 'veryClear', from: 0, to: 0.7, weight: -0.966 },
  { of: 'clarity', from: 0, to: 1, weight: 19.556 },
  // A few rich frames are enough: a dull voice has no more, and phones have hardly any.
  { of: 'rich', from: 0, to: 0.1, weight: 62.902 },
  { of: 'poor', from: 0.4, to: 0.8, weight: -37.304 },
];
/** With it a score of 0 is where nothing of the speech in rooms that was fitted to is missed, but single words in an echo and hiss. */
const OFFSET = -14.212;

/** How sure it is that somebody speaks: above 0, rather than not. */
export function scoreTalk(measures: TalkMeasures): number {
  let score = OFFSET;
  for (const { of, from, to, weight } of PARTS) {
    score += weight * Math.max(from, Math.min(to, measures[of]));
  }
  return score;
}
