import type { EchoSpectrum } from './echo-spectrum.ts';
import type { Timeline } from './echo-timeline.ts';
import { valueAt } from './fourier.ts';

/** Read access to sound by its place. */
export type Sounds = Pick<Timeline, 'read'>;

/** Minimum power to compare (full scale is 1). */
const PLAYED_POWER = 1e-6;
const HEARD_POWER = 4e-9;
/** Minimum ratio of squared mean to power: a sound of nothing but clicks matches any other click; speech is well above. */
const LEAST_FULLNESS = 0.04;
/** How far strong frequencies are reduced to the level of weak ones: 1 leaves only the phases. */
const WHITENING = 0.9;
/** Frequencies below this share of the mean played power are ignored. */
const AUDIBLE = 1e-3;

/** A block of heard sound, with the played sound of twice its length from which its echo may come. */
export class EchoBlock {
  /** Cross spectrum of both sounds, and power of the played one. */
  readonly crossRe: Float64Array;
  readonly crossIm: Float64Array;
  readonly power: Float64Array;
  private readonly spectrum: EchoSpectrum;
  private readonly leadSamples: number;
  private readonly heard: Float64Array;
  private readonly window: Float64Array;

  constructor(spectrum: EchoSpectrum, leadSamples: number) {
    const length = spectrum.size / 2;
    this.crossRe = spectrum.createBins();
    this.crossIm = spectrum.createBins();
    this.power = spectrum.createBins();
    this.spectrum = spectrum;
    this.leadSamples = leadSamples;
    this.heard = new Float64Array(length);
    this.window = taper(length);
  }

  /** The played sound, until it is transformed. */
  get played(): Float64Array {
    return this.spectrum.re;
  }

  /** @param end place after the block's last sample */
  read(played: Sounds, heard: Sounds, end: number): void {
    const { size, re, im } = this.spectrum;
    const { length } = this.heard;
    played.read(end + this.leadSamples - size, re);
    heard.read(end - length, this.heard);
    // One transform for both: the played sound is its real part, the heard one its imaginary part.
    im.fill(0, 0, length);
    for (let index = 0; index < length; index++)
      im[length + index] = valueAt(this.heard, index) * valueAt(this.window, index);
  }

  /** Whether both sounds are loud enough to compare, and the played one is more than clicks. */
  isLoud(): boolean {
    const { size, re } = this.spectrum;
    const { heard } = this;
    let heardPower = 0;
    for (let index = 0; index < heard.length; index++) heardPower += valueAt(heard, index) ** 2;
    let playedPower = 0;
    let magnitudes = 0;
    for (let index = 0; index < size; index++) {
      const sample = valueAt(re, index);
      magnitudes += Math.abs(sample);
      playedPower += sample * sample;
    }
    if (playedPower < PLAYED_POWER * size || heardPower < HEARD_POWER * heard.length) return false;
    return magnitudes ** 2 >= LEAST_FULLNESS * size * playedPower;
  }

  /** Writes the cross spectrum to `crossRe` and `crossIm`. */
  transform(): void {
    const { spectrum, crossRe, crossIm, power } = this;
    const { size, firstBin, lastBin, re, im } = spectrum;
    spectrum.forward();
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const mirror = size - bin;
      const playedRe = (valueAt(re, bin) + valueAt(re, mirror)) / 2;
      const playedIm = (valueAt(im, bin) - valueAt(im, mirror)) / 2;
      const heardRe = (valueAt(im, bin) + valueAt(im, mirror)) / 2;
      const heardIm = (valueAt(re, mirror) - valueAt(re, bin)) / 2;
      power[bin] = playedRe * playedRe + playedIm * playedIm;
      crossRe[bin] = heardRe * playedRe + heardIm * playedIm;
      crossIm[bin] = heardIm * playedRe - heardRe * playedIm;
    }
  }

  /** @returns the whitened correlation of both sounds by lag; the spectrum's next use overwrites it */
  correlate(): Float64Array {
    const { spectrum, crossRe, crossIm, power } = this;
    const { firstBin, lastBin, re } = spectrum;
    let sum = 0;
    for (let bin = firstBin; bin <= lastBin; bin++) sum += valueAt(power, bin);
    const least = (sum / (lastBin - firstBin + 1)) * AUDIBLE;
    spectrum.clear();
    for (let bin = firstBin; bin <= lastBin; bin++) {
      if (valueAt(power, bin) < least) continue;
      const real = valueAt(crossRe, bin);
      const imaginary = valueAt(crossIm, bin);
      const weight = (real * real + imaginary * imaginary + 1e-30) ** (-WHITENING / 2);
      spectrum.setBin(bin, real * weight, imaginary * weight);
    }
    spectrum.inverse();
    return re;
  }
}

/** Fades over a tenth of the block at both ends, so that the cut edges do not act as clicks. */
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
