import type { EchoMeasure } from './echo-measure.ts';
import type { Timeline } from './echo-timeline.ts';
import { createSpectrum, valueAt } from './fourier.ts';

/** Sound by its place. */
type Sounds = Pick<Timeline, 'read'>;

/** Compares blocks of heard sound with what was played, at every lag at once, and remembers what earlier blocks said. */
export interface EchoLags {
  /** @param end place behind the block's last sample */
  compare(played: Sounds, heard: Sounds, end: number): EchoMeasure | null;
}

/** The band in which speech has its power and small loudspeakers sound, hertz. */
const BAND_HZ = { from: 250, until: 1600 };
/** Below these levels (power of full scale 1) there is nothing to compare. */
const PLAYED_POWER = 1e-6;
const HEARD_POWER = 4e-9;
/** A sound that is nothing but clicks is like any other click. Of speech the mean is not so far below the power. */
const LEAST_FULLNESS = 0.04;
/** How far the strong frequencies are brought down to the weak ones: 1 leaves nothing but the phases. */
const WHITENING = 0.9;
/** Frequencies that were played this much weaker than the others say nothing. */
const AUDIBLE = 1e-3;
/** For the gain, which divides by what was played, they must be stronger. */
const STRONG = 0.03;
/** What a block said counts this much when the next one comes. */
const MEMORY = 0.65;
/** Lags so close together are one: the blur of a millisecond in the times of the two sounds, samples. */
const BLUR = 4;
/** The sum over the blocks must stand out from its mean over all lags by this factor. */
const STANDS_OUT = 13;
/** As clear as it gets. */
const STANDS_OUT_WELL = 40;
/**
 * And from the best of all other lags by this one. A sound that repeats itself (a hum, a beep) is like itself at many
 * lags, and tells nothing.
 */
const STANDS_ALONE = { factor: 1.5, beyondMs: 4 };
/** Where the longest and the shortest lag are, the cuts of the blocks lie on each other and sound alike. */
const EDGE_MS = 4;
/** This many of the last blocks must each, by themselves, find the same lag within this many milliseconds. */
const VOTES = { needed: 2, of: 4, withinMs: 2 };
/** Noise can hide the gain; no more than this is ever taken off for it. */
const MOST_NOISE = 0.75;
/** When what was played is added up by stretches of time: this many in two blocks. */
const STRETCHES = 32;
/** The first reflections count as the echo's level, milliseconds around the direct sound. */
const DIRECT_MS = { before: 2, after: 30 };

export function createEchoLags(options: {
  rateHz: number;
  blockSamples: number;
  leadSamples: number;
}): EchoLags {
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
   * @returns false where either is too quiet to be compared
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

  /** How much of what was played lies where an echo of this lag in the heard block would come from. */
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

  /** Leaves the whitened cross spectrum in `re` and `im`, and adds the plain one to what is known. */
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

  /** Of a real sound, so that the mirrored half follows. */
  const setBin = (bin: number, real: number, imaginary: number): void => {
    re[bin] = real;
    im[bin] = imaginary;
    re[size - bin] = real;
    im[size - bin] = -imaginary;
  };

  /** What this block says of each lag, its own best one, and the best of all blocks together. */
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
    // The cross spectrum knows the echo of a block, the power that it is divided by is that of twice the time.
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
      // The next measure needs evidence of its own.
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

/** Rises and falls over a tenth of the block at its ends, so that the cuts are no sounds of their own. */
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
