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
  { of: 'overFloor', from: 0, to: 20, weight: -0.614 },
  { of: 'over', from: 0, to: 1, weight: 2.249 },
  { of: 'overMedian', from: 0, to: 18, weight: 0.923 },
  { of: 'range', from: 0, to: 35, weight: -0.295 },
  { of: 'syllables', from: 0, to: 9, weight: 0.058 },
  // Tones and hum hardly move at this rate.
  { of: 'syllables', from: 0, to: 1.6, weight: 3.208 },
  { of: 'syllables', from: 5, to: 9, weight: 0.471 },
  { of: 'standing', from: 0, to: 1, weight: 3.517 },
  { of: 'voiced', from: 0, to: 0.8, weight: 5.874 },
  { of: 'voiced', from: 0.85, to: 1, weight: 6.712 },
  { of: 'allVoiced', from: 0, to: 1, weight: -4.159 },
  { of: 'oneness', from: 0, to: 1, weight: -1.313 },
  { of: 'pieces', from: 0, to: 4, weight: 1.075 },
  { of: 'gliding', from: 0, to: 0.45, weight: 25.576 },
  { of: 'steady', from: 0, to: 0.4, weight: -43.304 },
  { of: 'turning', from: 0, to: 0.5, weight: -46.462 },
  { of: 'veryClear', from: 0, to: 0.7, weight: -1.034 },
  { of: 'clarity', from: 0, to: 1, weight: 19.298 },
];
/** With it a score of 0 is where nothing of what was fitted to is missed. */
const OFFSET = -31.221;

/** How sure it is that somebody speaks: above 0, rather than not. */
export function scoreTalk(measures: TalkMeasures): number {
  let score = OFFSET;
  for (const { of, from, to, weight } of PARTS) {
    score += weight * Math.max(from, Math.min(to, measures[of]));
  }
  return score;
}
