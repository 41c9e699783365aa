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
 * and reverberated, of grown-ups and pitched up as children, against two hours of each kind of noise. `npm run voices` judges
 * it by other speakers, too.
 */
const PARTS: readonly Part[] = [
  { of: 'overFloor', from: 0, to: 20, weight: -0.689 },
  { of: 'over', from: 0, to: 1, weight: 1.421 },
  { of: 'overMedian', from: 0, to: 18, weight: 0.932 },
  { of: 'range', from: 0, to: 35, weight: -0.296 },
  { of: 'syllables', from: 0, to: 9, weight: 0.667 },
  // More than a voice has: slams and steps.
  { of: 'syllables', from: 5, to: 9, weight: -0.351 },
  { of: 'standing', from: 0, to: 1, weight: 4.619 },
  { of: 'voiced', from: 0, to: 0.8, weight: -0.656 },
  { of: 'allVoiced', from: 0, to: 1, weight: -4.139 },
  { of: 'oneness', from: 0, to: 1, weight: -2.433 },
  { of: 'pieces', from: 0, to: 4, weight: 1.055 },
  { of: 'gliding', from: 0, to: 0.45, weight: 30.513 },
  { of: 'steady', from: 0, to: 0.4, weight: -31.634 },
  { of: 'turning', from: 0, to: 0.3, weight: -38.675 },
  { of: 'veryClear', from: 0, to: 0.7, weight: -2.159 },
  { of: 'clarity', from: 0, to: 1, weight: 20.894 },
];
/** With it a score of 0 is where nothing of what was fitted to is missed. */
const OFFSET = -17.739;

/** How sure it is that somebody speaks: above 0, rather than not. */
export function scoreTalk(measures: TalkMeasures): number {
  let score = OFFSET;
  for (const { of, from, to, weight } of PARTS) {
    score += weight * Math.max(from, Math.min(to, measures[of]));
  }
  return score;
}
