import { valueAt } from './fourier.ts';

/** Share of the earlier evidence that is kept with each block. */
export const MEMORY = 0.65;
/** Lags this close count as one (samples): the times of the two sounds are accurate to a millisecond. */
const BLUR = 4;
/** Range of lags to exclude at both ends (ms): the cut edges of the blocks overlap there and match each other. */
const EDGE_MS = 4;
/** Distance (ms) from which another lag is a rival of the best. */
const RIVAL_MS = 4;

/** The most probable lags, in samples. */
export interface BestLags {
  /** The best lag of this block alone. */
  readonly own: number;
  /** The best lag of all blocks. */
  readonly best: number;
  /** Ratio of the best lag's evidence to the mean of all lags. */
  readonly overMean: number;
  /** Ratio of the best lag's evidence to that of its strongest rival. */
  readonly overRival: number;
}

/** Collects the evidence of successive blocks for each lag. */
export class LagEvidence {
  private readonly edge: number;
  private readonly beyond: number;
  private readonly evidence: Float64Array;
  private readonly blurred: Float64Array;

  constructor(lags: number, rateHz: number) {
    this.edge = (EDGE_MS * rateHz) / 1000;
    this.beyond = (RIVAL_MS * rateHz) / 1000;
    this.evidence = new Float64Array(lags);
    this.blurred = new Float64Array(lags);
  }

  clear(): void {
    this.evidence.fill(0);
  }

  /** @param correlation of the block by lag */
  add(correlation: Float64Array): BestLags {
    const { evidence, blurred, edge } = this;
    const lags = evidence.length;
    const power = meanPower(correlation, lags);
    let ownSum = 0;
    let ownBest = 0;
    let ownAt = 0;
    let sum = 0;
    let best = 0;
    let at = 0;
    let mean = 0;
    for (let lag = 0; lag < lags; lag++) {
      const share = valueAt(correlation, lag) ** 2 / power;
      evidence[lag] = valueAt(evidence, lag) * MEMORY + share;
      ownSum += share;
      sum += valueAt(evidence, lag);
      mean += valueAt(evidence, lag) / lags;
      if (lag >= BLUR) {
        ownSum -= valueAt(correlation, lag - BLUR) ** 2 / power;
        sum -= valueAt(evidence, lag - BLUR);
      }
      blurred[lag] = sum;
      if (lag < edge || lag >= lags - edge) continue;
      if (ownSum > ownBest) {
        ownBest = ownSum;
        ownAt = lag;
      }
      if (sum > best) {
        best = sum;
        at = lag;
      }
    }
    const middle = BLUR / 2;
    const overRival = best / this.strongestRival(at);
    return { own: ownAt - middle, best: at - middle, overMean: best / (mean * BLUR), overRival };
  }

  private strongestRival(best: number): number {
    const { blurred, edge, beyond } = this;
    let rival = 1e-30;
    for (let lag = edge; lag < blurred.length - edge; lag++)
      if (Math.abs(lag - best) > beyond) rival = Math.max(rival, valueAt(blurred, lag));
    return rival;
  }
}

function meanPower(correlation: Float64Array, lags: number): number {
  let mean = 1e-30;
  for (let lag = 0; lag < lags; lag++) mean += valueAt(correlation, lag) ** 2 / lags;
  return mean;
}
