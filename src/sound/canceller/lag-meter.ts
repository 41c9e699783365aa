import { transformLength, valueAt } from '../fourier.ts';
import { createRealSpectrum } from '../real-spectrum.ts';

/** Change of the echo's delay since an earlier time. */
export interface LagMeasure {
  /** Samples; negative if the echo comes earlier. */
  readonly lag: number;
  /** 0 to 1: how alike the two echoes are but for the lag. */
  readonly likeness: number;
  /** Age of the measurement in samples: the middle of the frames that were used. */
  readonly ago: number;
  /** Number of frames used. */
  readonly frames: number;
  /** First measurement: the reference for later ones, with no information about the time before. */
  readonly isFirst: boolean;
}

/**
 * Compares the loudspeaker's sound in the microphone now with the same before. In one room, the two differ only by the
 * drift between the clocks. Accurate to a hundredth of a sample from a second of speech, even while people speak.
 */
export interface LagMeter {
  /**
   * @param now samples heard until the end of this sound
   * @returns a measurement once there is enough new sound
   */
  hear(played: Float32Array, heard: Float32Array, now: number): LagMeasure | null;
  /** Discards the measurement in progress, because the times of the sounds were corrected. */
  restart(): void;
  /** Forgets the reference. */
  forget(): void;
}

/** Length of a frame (ms): longer than the first reflections of a room. */
const FRAME_MS = 160;
const BAND_HZ = { from: 200, until: 4500 };
/** Least power of played sound to compare (full scale is 1). */
const PLAYED_POWER = 1e-6;
/** Tones weaker than this share of the mean played power are ignored. */
const AUDIBLE = 3e-3;
/** Frames per measurement: few at first, when the clocks may drift fast. */
const FRAMES = { first: 4, most: 12, more: 2 };
/** Share by which the known path follows each measurement. */
const FOLLOWS = 0.15;
/** Least likeness (0 to 1) of the same path. */
const LEAST_LIKENESS = 0.35;
/**
 * Limits for a lag that clock drift can explain. Two paths that were each measured over a few syllables share only some
 * tones. A lag within the possible drift needs less likeness: chance would seldom pick one of these. `drift` is a share of
 * time, `ms` is the measurement error.
 */
const NEAR = { likeness: 0.18, drift: 600e-6, ms: 0.25 };
/** A near lag wins if it reaches this share of the best correlation. */
const RATHER_NEAR = 0.7;
const MISSES = 4;
/** Largest lag searched (ms); two clocks do not differ by more. */
const FARTHEST_MS = 70;
/** Least share of the heard sound that comes from the played sound; below it there is no echo to measure. */
const LEAST_COHERENCE = 0.08;

export function createLagMeter(rateHz: number): LagMeter {
  const size = transformLength((FRAME_MS * rateHz) / 1000);
  const hop = size / 2;
  const spectrum = createRealSpectrum(size);
  const { bins } = spectrum;
  const firstBin = Math.ceil((BAND_HZ.from / rateHz) * size);
  const lastBin = Math.min(bins - 2, Math.floor((BAND_HZ.until / rateHz) * size));
  const window = Float64Array.from(
    { length: size },
    (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (at + 0.5)) / size),
  );
  const make = () => ({ re: new Float64Array(bins), im: new Float64Array(bins) });
  const past = { played: new Float64Array(size), heard: new Float64Array(size) };
  const [x, y, cross, path, product] = [make(), make(), make(), make(), make()];
  const power = { played: new Float64Array(bins), heard: new Float64Array(bins) };
  const known = make();
  let knows = 0;
  let misses = 0;
  let pending = 0;
  let filled = 0;
  let frames = 0;
  let middles = 0;
  let loudness = 0;
  /** Time of the last comparison with the known path. */
  let knownAt = 0;
  let wanted = FRAMES.first;
  const time = new Float64Array(size);

  const clear = (): void => {
    for (const values of [cross.re, cross.im, power.played, power.heard]) values.fill(0);
    frames = middles = loudness = 0;
  };
  const restart = (): void => {
    clear();
    filled = 0;
    wanted = FRAMES.first;
  };
  const transform = (sound: Float64Array, into: { re: Float64Array; im: Float64Array }): void => {
    for (let at = 0; at < size; at++) time[at] = valueAt(sound, at) * valueAt(window, at);
    spectrum.forward(time, into.re, into.im);
  };
  const addFrame = (now: number): void => {
    let sum = 0;
    for (let at = 0; at < size; at++) sum += valueAt(past.played, at) ** 2;
    if (sum < PLAYED_POWER * size) return;
    transform(past.played, x);
    transform(past.heard, y);
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const xRe = valueAt(x.re, bin);
      const xIm = valueAt(x.im, bin);
      const yRe = valueAt(y.re, bin);
      const yIm = valueAt(y.im, bin);
      cross.re[bin] = valueAt(cross.re, bin) + yRe * xRe + yIm * xIm;
      cross.im[bin] = valueAt(cross.im, bin) + yIm * xRe - yRe * xIm;
      power.played[bin] = valueAt(power.played, bin) + xRe * xRe + xIm * xIm;
      power.heard[bin] = valueAt(power.heard, bin) + yRe * yRe + yIm * yIm;
    }
    frames += 1;
    middles += (now - size / 2) * sum;
    loudness += sum;
  };

  /** Leaves the current path in `path`, without weak tones; returns the share of the heard sound that came along it. */
  const findPath = (): number => {
    let mean = 0;
    for (let bin = firstBin; bin <= lastBin; bin++) mean += valueAt(power.played, bin);
    mean /= lastBin - firstBin + 1;
    let coherence = 0;
    let weights = 1e-30;
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const played = valueAt(power.played, bin);
      const isHeard = played > mean * AUDIBLE;
      const crossPower = valueAt(cross.re, bin) ** 2 + valueAt(cross.im, bin) ** 2;
      const weight = isHeard ? 1 / (played + mean * AUDIBLE) : 0;
      // A low share means that a person speaks: that says nothing about the path.
      const share = crossPower / (played * valueAt(power.heard, bin) + 1e-30);
      path.re[bin] = valueAt(cross.re, bin) * weight * share;
      path.im[bin] = valueAt(cross.im, bin) * weight * share;
      coherence += share * played;
      weights += played;
    }
    return Math.max(0, (coherence / weights - 1 / frames) / (1 - 1 / frames));
  };

  const scoreAt = (lag: number): { value: number; slope: number; bend: number } => {
    let value = 0;
    let slope = 0;
    let bend = 0;
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const omega = (2 * Math.PI * bin) / size;
      const cosine = Math.cos(omega * lag);
      const sine = Math.sin(omega * lag);
      const re = valueAt(product.re, bin);
      const im = valueAt(product.im, bin);
      value += re * cosine - im * sine;
      slope -= omega * (re * sine + im * cosine);
      bend -= omega * omega * (re * cosine - im * sine);
    }
    return { value, slope, bend };
  };

  /** The lag of greatest likeness, its likeness, and the least likeness required. @param passed samples since the known path was heard */
  const compare = (passed: number): { lag: number; likeness: number; least: number } => {
    product.re.fill(0);
    product.im.fill(0);
    let [nowPower, knownPower] = [1e-30, 1e-30];
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const aRe = valueAt(path.re, bin);
      const aIm = valueAt(path.im, bin);
      const bRe = valueAt(known.re, bin);
      const bIm = valueAt(known.im, bin);
      product.re[bin] = aRe * bRe + aIm * bIm;
      product.im[bin] = aIm * bRe - aRe * bIm;
      nowPower += aRe * aRe + aIm * aIm;
      knownPower += bRe * bRe + bIm * bIm;
    }
    spectrum.inverse(product.re, product.im, time);
    const farthest = Math.min(size / 2 - 1, Math.round((FARTHEST_MS * rateHz) / 1000));
    const near = mostLikely(
      time,
      Math.min(farthest, Math.ceil(NEAR.drift * passed + (NEAR.ms * rateHz) / 1000)),
    );
    const anywhere = mostLikely(time, farthest);
    const isNear = correlationAt(time, near) > RATHER_NEAR * correlationAt(time, anywhere);
    const best = isNear ? near : anywhere;
    let lag = best;
    for (let round = 0; round < 4; round++) {
      const { slope, bend } = scoreAt(lag);
      if (bend >= 0) break;
      lag -= Math.max(-0.5, Math.min(0.5, slope / bend));
    }
    if (Math.abs(lag - best) > 1) lag = best;
    const likeness = scoreAt(lag).value / Math.sqrt(nowPower * knownPower);
    return { lag, likeness, least: isNear ? NEAR.likeness : LEAST_LIKENESS };
  };

  /** Moves the known path towards the heard one, after shifting that one by the lag. */
  const follow = (lag: number): void => {
    const share = Math.max(FOLLOWS, 1 / (knows + 1));
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const angle = (2 * Math.PI * bin * lag) / size;
      const cosine = Math.cos(angle);
      const sine = Math.sin(angle);
      const re = valueAt(path.re, bin);
      const im = valueAt(path.im, bin);
      known.re[bin] = (1 - share) * valueAt(known.re, bin) + share * (re * cosine - im * sine);
      known.im[bin] = (1 - share) * valueAt(known.im, bin) + share * (im * cosine + re * sine);
    }
    knows += 1;
  };

  const measure = (now: number): LagMeasure | null => {
    const coherence = findPath();
    const at = middles / loudness;
    const ago = now - at;
    const count = frames;
    clear();
    if (coherence < LEAST_COHERENCE) return null;
    if (knows === 0) {
      follow(0);
      knownAt = at;
      return { lag: 0, likeness: 1, ago, frames: count, isFirst: true };
    }
    const { lag, likeness, least } = compare(at - knownAt);
    if (likeness < least) {
      misses += 1;
      if (misses >= MISSES) {
        misses = knows = 0;
        wanted = FRAMES.first;
      }
      return null;
    }
    misses = 0;
    wanted = Math.min(FRAMES.most, wanted + FRAMES.more);
    follow(lag);
    knownAt = at;
    return { lag, likeness, ago, frames: count, isFirst: false };
  };

  return {
    hear(played, heard, now) {
      past.played.copyWithin(0, played.length);
      past.heard.copyWithin(0, heard.length);
      past.played.set(played, size - played.length);
      past.heard.set(heard, size - heard.length);
      pending += heard.length;
      filled += heard.length;
      if (pending < hop || filled < size) return null;
      pending = 0;
      addFrame(now);
      return frames >= wanted ? measure(now) : null;
    },
    restart,
    forget() {
      restart();
      knows = misses = 0;
      wanted = FRAMES.first;
    },
  };
}

const correlationAt = (time: Float64Array, lag: number): number =>
  valueAt(time, (lag + time.length) % time.length);

/** The lag with the highest correlation, to a whole sample. */
function mostLikely(time: Float64Array, most: number): number {
  let best = 0;
  for (let lag = -most; lag <= most; lag++)
    if (correlationAt(time, lag) > correlationAt(time, best)) best = lag;
  return best;
}
