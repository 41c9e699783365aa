import { valueAt } from '../fourier.ts';
import type { FrameTransform, Tones } from './frame-transform.ts';

/** Weight of a new measurement in the known path. */
const FOLLOWS = 0.15;
/** Likeness (0 to 1) from which two paths count as the same. */
const LEAST_LIKENESS = 0.35;
/**
 * Limits for a lag that clock drift can explain. Two paths that were each measured over a few syllables share only some
 * tones. A lag within the possible drift needs less likeness, because chance matches are rarely there. `drift` is a share of
 * time, `ms` is the measurement error.
 */
const NEAR = { likeness: 0.18, drift: 600e-6, ms: 0.25 };
/** A near lag is preferred if its correlation exceeds this share of the best one. */
const RATHER_NEAR = 0.7;
/** Largest lag searched (ms): more than two clocks drift apart between measurements. */
const FARTHEST_MS = 70;
/** Number of steps that refine a lag to a fraction of a sample. */
const REFINEMENTS = 4;

/** How a measured path compares with the known one. */
export interface PathMatch {
  /** Samples by which the measured path is later. */
  readonly lag: number;
  /** 0 to 1: how alike the two paths are apart from the lag. */
  readonly likeness: number;
  /** Whether it is the same path. */
  readonly isAlike: boolean;
}

/** The path from the loudspeaker to the microphone as earlier measurements found it. */
export class KnownPath {
  private readonly transform: FrameTransform;
  private readonly known: Tones;
  private readonly product: Tones;
  /** Number of measurements in it. */
  private measurements = 0;
  private lastAt = 0;

  constructor(transform: FrameTransform) {
    this.transform = transform;
    this.known = transform.createTones();
    this.product = transform.createTones();
  }

  get isKnown(): boolean {
    return this.measurements > 0;
  }

  forget(): void {
    this.measurements = 0;
  }

  /** Moves the known path towards a measured one, after shifting the measured one by its lag. @param at its time in samples */
  follow({ re: pathRe, im: pathIm }: Tones, lag: number, at: number): void {
    const { known } = this;
    const { first, last, size } = this.transform;
    const share = Math.max(FOLLOWS, 1 / (this.measurements + 1));
    for (let bin = first; bin <= last; bin++) {
      const angle = (2 * Math.PI * bin * lag) / size;
      const cosine = Math.cos(angle);
      const sine = Math.sin(angle);
      const re = valueAt(pathRe, bin);
      const im = valueAt(pathIm, bin);
      known.re[bin] = (1 - share) * valueAt(known.re, bin) + share * (re * cosine - im * sine);
      known.im[bin] = (1 - share) * valueAt(known.im, bin) + share * (im * cosine + re * sine);
    }
    this.measurements += 1;
    this.lastAt = at;
  }

  /** Finds the lag at which a path measured at this time is most like the known one. */
  match(path: Tones, at: number): PathMatch {
    const most = this.multiply(path);
    const { best, isNear } = this.findWholeLag(at - this.lastAt);
    const lag = this.refine(best);
    const likeness = this.correlationAt(lag) / most;
    return { lag, likeness, isAlike: likeness >= (isNear ? NEAR.likeness : LEAST_LIKENESS) };
  }

  /** Writes the cross spectrum of both paths to `product`. @returns the correlation of two equal paths */
  private multiply(path: Tones): number {
    const { known, product } = this;
    const { first, last } = this.transform;
    let pathPower = 1e-30;
    let knownPower = 1e-30;
    for (let bin = first; bin <= last; bin++) {
      const aRe = valueAt(path.re, bin);
      const aIm = valueAt(path.im, bin);
      const bRe = valueAt(known.re, bin);
      const bIm = valueAt(known.im, bin);
      product.re[bin] = aRe * bRe + aIm * bIm;
      product.im[bin] = aIm * bRe - aRe * bIm;
      pathPower += aRe * aRe + aIm * aIm;
      knownPower += bRe * bRe + bIm * bIm;
    }
    return Math.sqrt(pathPower * knownPower);
  }

  /** @param passed samples since the last measurement: the longer, the further the clocks may have drifted */
  private findWholeLag(passed: number): { best: number; isNear: boolean } {
    const { rateHz, size } = this.transform;
    const correlation = this.transform.inverse(this.product);
    const farthest = Math.min(size / 2 - 1, Math.round((FARTHEST_MS * rateHz) / 1000));
    const drift = Math.ceil(NEAR.drift * passed + (NEAR.ms * rateHz) / 1000);
    const near = mostLikely(correlation, Math.min(farthest, drift));
    const anywhere = mostLikely(correlation, farthest);
    const isNear = atLag(correlation, near) > RATHER_NEAR * atLag(correlation, anywhere);
    return { best: isNear ? near : anywhere, isNear };
  }

  /** The maximum of the correlation within a sample of `best`, by Newton's method. */
  private refine(best: number): number {
    const { product } = this;
    const { first, last, size } = this.transform;
    let lag = best;
    for (let round = 0; round < REFINEMENTS; round++) {
      let slope = 0;
      let bend = 0;
      for (let bin = first; bin <= last; bin++) {
        const omega = (2 * Math.PI * bin) / size;
        const cosine = Math.cos(omega * lag);
        const sine = Math.sin(omega * lag);
        const re = valueAt(product.re, bin);
        const im = valueAt(product.im, bin);
        slope -= omega * (re * sine + im * cosine);
        bend -= omega * omega * (re * cosine - im * sine);
      }
      if (bend >= 0) break;
      lag -= Math.max(-0.5, Math.min(0.5, slope / bend));
    }
    return Math.abs(lag - best) > 1 ? best : lag;
  }

  /** The correlation at a lag between two samples. */
  private correlationAt(lag: number): number {
    const { product } = this;
    const { first, last, size } = this.transform;
    let value = 0;
    for (let bin = first; bin <= last; bin++) {
      const omega = (2 * Math.PI * bin) / size;
      value +=
        valueAt(product.re, bin) * Math.cos(omega * lag) - valueAt(product.im, bin) * Math.sin(omega * lag);
    }
    return value;
  }
}

const atLag = (correlation: Float64Array, lag: number): number =>
  valueAt(correlation, (lag + correlation.length) % correlation.length);

/** The lag with the highest correlation, to a whole sample. */
function mostLikely(correlation: Float64Array, most: number): number {
  let best = 0;
  for (let lag = -most; lag <= most; lag++)
    if (atLag(correlation, lag) > atLag(correlation, best)) best = lag;
  return best;
}
