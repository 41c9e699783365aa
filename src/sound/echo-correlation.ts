import type { EchoMeasure } from './echo-measure.ts';
import type { Timeline } from './echo-timeline.ts';
import { createSpectrum, valueAt } from './fourier.ts';

/** Read access to sound by its place. */
type Sounds = Pick<Timeline, 'read'>;

/** Correlates blocks of heard sound with the played sound at all lags at once, and keeps the evidence of earlier blocks. */
export interface EchoCorrelation {
  /** @param end place after the block's last sample */
  compare(played: Sounds, heard: Sounds, end: number): EchoMeasure | null;
}

/** Band in which speech has its power and small loudspeakers work (Hz). */
const BAND_HZ = { from: 250, until: 1600 };
/** Least power to compare (full scale is 1). */
const PLAYED_POWER = 1e-6;
const HEARD_POWER = 4e-9;
/** Least ratio of squared mean to power: a sound of nothing but clicks matches any other click; speech is well above. */
const LEAST_FULLNESS = 0.04;
/** How far strong frequencies are reduced to the level of weak ones: 1 leaves only the phases. */
const WHITENING = 0.9;
/** Frequencies below this share of the mean played power are ignored. */
const AUDIBLE = 1e-3;
/** The same for the gain, which divides by the played power and so needs more. */
const STRONG = 0.03;
/** Share of a block's evidence that is kept for the next block. */
const MEMORY = 0.65;
/** Lags this close are one (samples): the times of the two sounds blur by a millisecond. */
const BLUR = 4;
/** Factor by which the best lag must exceed the mean of all lags. */
const STANDS_OUT = 13;
/** Factor that counts as full confidence. */
const STANDS_OUT_WELL = 40;
/**
 * Factor by which the best lag must exceed every lag further away. A sound that repeats itself (a hum, a beep) matches at
 * many lags and proves nothing.
 */
const STANDS_ALONE = { factor: 1.5, beyondMs: 4 };
/** Excluded at both ends of the lags (ms): there the cut edges of the blocks overlap and sound alike. */
const EDGE_MS = 4;
/** Recent blocks that must each find the same lag within this many milliseconds. */
const VOTES = { needed: 2, of: 4, withinMs: 2 };
/** Largest share of the gain that is removed as noise. */
const MOST_NOISE = 0.75;
/** Number of time stretches in two blocks, for summing the played power. */
const STRETCHES = 32;
/** Window around the direct sound (ms) that counts as the echo's level: it includes the first reflections. */
const DIRECT_MS = { before: 2, after: 30 };

export function createEchoCorrelation(options: {
  rateHz: number;
  blockSamples: number;
  leadSamples: number;
}): EchoCorrelation {
  const { rateHz, blockSamples, leadSamples } = options;
  const size = blockSamples * 2;
  const spectrum = createSpectrum(size);
  const firstBin = Math.ceil((BAND_HZ.from / rateHz) * size);
  const lastBin = Math.floor((BAND_HZ.until / rateHz) * size);
  const window = taper(blockSamples);
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  const cross = { re: new Float64Array(lastBin + 1), im: new Float64Array(lastBin + 1) };
  const playedPower = new Float64Array(lastBin + 1);
  const evidence = new Float64Array(blockSamples);
  const blurred = new Float64Array(blockSamples);
  const block = new Float64Array(blockSamples);
  const stretches = new Float64Array(STRETCHES);
  let votes: readonly number[] = [];

  /**
   * One transform for both: the played sound is its real part, the heard one its imaginary part.
   * @returns false if either is too quiet to compare
   */
  const transform = (played: Sounds, heard: Sounds, end: number): boolean => {
    played.read(end + leadSamples - size, re);
    heard.read(end - blockSamples, block);
    let heardPower = 0;
    im.fill(0, 0, blockSamples);
    for (let index = 0; index < blockSamples; index++) {
      const sample = valueAt(block, index);
      heardPower += sample * sample;
      im[blockSamples + index] = sample * valueAt(window, index);
    }
    const before = stretches.reduce((sum, power) => sum + power, 0) * MEMORY;
    const length = size / STRETCHES;
    let magnitudes = 0;
    for (let index = 0; index < size; index++) {
      const stretch = Math.floor(index / length);
      const remembered = index % length === 0 ? MEMORY : 1;
      magnitudes += Math.abs(valueAt(re, index));
      stretches[stretch] = valueAt(stretches, stretch) * remembered + valueAt(re, index) ** 2;
    }
    const playedPower = stretches.reduce((sum, power) => sum + power, 0) - before;
    if (playedPower < PLAYED_POWER * size || heardPower < HEARD_POWER * blockSamples) return false;
    if (magnitudes ** 2 < LEAST_FULLNESS * size * playedPower) return false;
    spectrum.forward(re, im);
    return true;
  };

  /** Share of the played power in the stretch from which an echo with this lag would come. */
  const coverage = (lag: number): number => {
    const first = Math.round(((blockSamples - lag) / size) * STRETCHES);
    let inside = 0;
    let total = 1e-30;
    for (const [stretch, power] of stretches.entries()) {
      total += power;
      if (stretch >= first && stretch < first + STRETCHES / 2) inside += power;
    }
    return Math.max(0.05, inside / total);
  };

  /** Leaves the whitened cross spectrum in `re` and `im`, and adds the plain one to the stored sum. */
  const crossSpectrum = (): void => {
    const bins = lastBin - firstBin + 1;
    let sum = 0;
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const mirror = size - bin;
      const playedRe = (valueAt(re, bin) + valueAt(re, mirror)) / 2;
      const playedIm = (valueAt(im, bin) - valueAt(im, mirror)) / 2;
      const heardRe = (valueAt(im, bin) + valueAt(im, mirror)) / 2;
      const heardIm = (valueAt(re, mirror) - valueAt(re, bin)) / 2;
      const power = playedRe * playedRe + playedIm * playedIm;
      sum += power;
      latest.power[bin] = power;
      latest.re[bin] = heardRe * playedRe + heardIm * playedIm;
      latest.im[bin] = heardIm * playedRe - heardRe * playedIm;
    }
    const least = (sum / bins) * AUDIBLE;
    re.fill(0);
    im.fill(0);
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const crossRe = valueAt(latest.re, bin);
      const crossIm = valueAt(latest.im, bin);
      const power = valueAt(latest.power, bin);
      cross.re[bin] = valueAt(cross.re, bin) * MEMORY + crossRe;
      cross.im[bin] = valueAt(cross.im, bin) * MEMORY + crossIm;
      playedPower[bin] = valueAt(playedPower, bin) * MEMORY + power;
      if (power < least) continue;
      const weight = (crossRe * crossRe + crossIm * crossIm + 1e-30) ** (-WHITENING / 2);
      setBin(bin, crossRe * weight, crossIm * weight);
    }
  };
  const latest = {
    re: new Float64Array(lastBin + 1),
    im: new Float64Array(lastBin + 1),
    power: new Float64Array(lastBin + 1),
  };

  /** Sets a bin and its mirror, as in the spectrum of a real sound. */
  const setBin = (bin: number, real: number, imaginary: number): void => {
    re[bin] = real;
    im[bin] = imaginary;
    re[size - bin] = real;
    im[size - bin] = -imaginary;
  };

  /** Adds this block's evidence for each lag; returns its own best lag and the best lag of all blocks. */
  const weigh = (): { own: number; best: number; ratio: number; lead: number } => {
    spectrum.inverse(re, im);
    let mean = 1e-30;
    for (let lag = 0; lag < blockSamples; lag++) mean += valueAt(re, lag) ** 2 / blockSamples;
    const own = { sum: 0, best: 0, at: 0 };
    const edge = (EDGE_MS * rateHz) / 1000;
    const beyond = (STANDS_ALONE.beyondMs * rateHz) / 1000;
    const all = { sum: 0, best: 0, at: 0, mean: 0 };
    for (let lag = 0; lag < blockSamples; lag++) {
      const share = valueAt(re, lag) ** 2 / mean;
      evidence[lag] = valueAt(evidence, lag) * MEMORY + share;
      own.sum += share;
      all.sum += valueAt(evidence, lag);
      all.mean += valueAt(evidence, lag) / blockSamples;
      if (lag >= BLUR) {
        own.sum -= valueAt(re, lag - BLUR) ** 2 / mean;
        all.sum -= valueAt(evidence, lag - BLUR);
      }
      blurred[lag] = all.sum;
      if (lag < edge || lag >= blockSamples - edge) continue;
      if (own.sum > own.best) Object.assign(own, { best: own.sum, at: lag });
      if (all.sum > all.best) Object.assign(all, { best: all.sum, at: lag });
    }
    let second = 1e-30;
    for (let lag = edge; lag < blockSamples - edge; lag++) {
      if (Math.abs(lag - all.at) > beyond) second = Math.max(second, valueAt(blurred, lag));
    }
    const middle = BLUR / 2;
    const ratio = all.best / (all.mean * BLUR);
    return { own: own.at - middle, best: all.at - middle, ratio, lead: all.best / second };
  };

  /** The level of the path from loudspeaker to microphone around this lag. */
  const gainDb = (lag: number): number => {
    let sum = 0;
    for (let bin = firstBin; bin <= lastBin; bin++) sum += valueAt(playedPower, bin);
    const least = (sum / (lastBin - firstBin + 1)) * STRONG;
    re.fill(0);
    im.fill(0);
    let used = 0;
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const power = valueAt(playedPower, bin);
      if (power < least || power === 0) continue;
      used += 2;
      setBin(bin, valueAt(cross.re, bin) / power, valueAt(cross.im, bin) / power);
    }
    spectrum.inverse(re, im);
    let inside = 0;
    let total = 0;
    let samples = 0;
    const from = lag - (DIRECT_MS.before * rateHz) / 1000;
    const until = lag + (DIRECT_MS.after * rateHz) / 1000;
    for (let index = 0; index < blockSamples; index++) {
      const square = valueAt(re, index) ** 2;
      total += square;
      if (index < from || index > until) continue;
      inside += square;
      samples += 1;
    }
    const noise = (total - inside) / Math.max(1, blockSamples - samples);
    const squares = Math.max(inside - noise * samples, inside * (1 - MOST_NOISE), 1e-12);
    // The cross spectrum covers the echo of one block; the power that divides it covers twice the time.
    return 10 * Math.log10((squares * size) / Math.max(1, used)) - 20 * Math.log10(coverage(lag));
  };

  return {
    compare(played, heard, end) {
      if (!transform(played, heard, end)) return null;
      crossSpectrum();
      const { own, best, ratio, lead } = weigh();
      votes = [...votes, own].slice(-VOTES.of);
      const within = (VOTES.withinMs * rateHz) / 1000;
      const agreeing = votes.filter((vote) => Math.abs(vote - best) <= within).length;
      if (agreeing < VOTES.needed || ratio < STANDS_OUT || lead < STANDS_ALONE.factor) return null;
      const measure = {
        delayMs: ((best - leadSamples) * 1000) / rateHz,
        gainDb: gainDb(best),
        confidence: Math.min(1, ratio / STANDS_OUT_WELL),
      };
      // The next measurement needs new evidence.
      votes = [];
      evidence.fill(0);
      cross.re.fill(0);
      cross.im.fill(0);
      playedPower.fill(0);
      stretches.fill(0);
      return measure;
    },
  };
}

/** Fades over a tenth of the block at both ends, so that the cuts do not sound. */
function taper(length: number): Float64Array {
  const window = new Float64Array(length).fill(1);
  const edge = Math.floor(length / 10);
  for (let index = 0; index < edge; index++) {
    const rise = 0.5 - 0.5 * Math.cos((Math.PI * (index + 0.5)) / edge);
    window[index] = rise;
    window[length - 1 - index] = rise;
  }
  return window;
}
