import type { TalkMeasures } from './talk-meter.ts';

/** Weight of a measure in the score; values outside the range are clamped to it. */
interface Part {
  readonly of: keyof TalkMeasures;
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

/**
 * Fitted by logistic regression. Speech: English, Spanish and French in rooms with fans, hiss and babble. The speech was dry or
 * reverberant, pitch-shifted towards men's and children's voices, and partly single words or telephone sound. Noise: one to four
 * hours of each kind. `npm run voices` tests the score with other speakers too.
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
  // Decides alone: a constant level is never speech.
  { of: 'unrest', from: 0, to: 0.1, weight: 150 },
  // Decides alone too: a slammed door only dies away, a voice rises as often as it falls.
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
  // A few rich frames are enough: a dull voice has no more, and telephone speech has hardly any.
  { of: 'rich', from: 0, to: 0.1, weight: 62.902 },
  { of: 'poor', from: 0.4, to: 0.8, weight: -37.304 },
];
/** Places score 0 so low that none of the fitted speech in rooms is missed, except single words with echo and hiss. */
const OFFSET = -14.212;

/** Confidence that a person speaks; above 0 means yes. */
export function scoreTalk(measures: TalkMeasures): number {
  let score = OFFSET;
  for (const { of, from, to, weight } of PARTS) {
    score += weight * Math.max(from, Math.min(to, measures[of]));
  }
  return score;
}
