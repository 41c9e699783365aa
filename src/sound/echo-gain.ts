import type { EchoBlock } from './echo-block.ts';
import type { EchoSpectrum } from './echo-spectrum.ts';
import { valueAt } from './fourier.ts';
import { MEMORY } from './lag-evidence.ts';

/** Frequencies below this share of the mean played power are ignored: the gain divides by the played power. */
const STRONG = 0.03;
/** Largest share of the gain that is removed as noise. */
const MOST_NOISE = 0.75;
/** Number of time stretches in two blocks, for summing the played power. */
const STRETCHES = 32;
/** Window around the direct sound (ms) that counts as the echo's level: it includes the first reflections. */
const DIRECT_MS = { before: 2, after: 30 };

/** Measures the gain from the loudspeaker to the microphone, over the blocks whose evidence is kept. */
export class EchoGain {
  private readonly spectrum: EchoSpectrum;
  private readonly rateHz: number;
  private readonly crossRe: Float64Array;
  private readonly crossIm: Float64Array;
  private readonly power: Float64Array;
  /** Played power by time within the blocks. */
  private readonly stretches = new Float64Array(STRETCHES);

  constructor(spectrum: EchoSpectrum, rateHz: number) {
    this.spectrum = spectrum;
    this.rateHz = rateHz;
    this.crossRe = spectrum.createBins();
    this.crossIm = spectrum.createBins();
    this.power = spectrum.createBins();
  }

  clear(): void {
    this.crossRe.fill(0);
    this.crossIm.fill(0);
    this.power.fill(0);
    this.stretches.fill(0);
  }

  /** Adds the power of a block's played sound, which may be too quiet to compare. */
  addPlayed(played: Float64Array): void {
    const { stretches } = this;
    const length = played.length / STRETCHES;
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      let power = valueAt(stretches, stretch) * MEMORY;
      for (let index = stretch * length; index < (stretch + 1) * length; index++)
        power += valueAt(played, index) ** 2;
      stretches[stretch] = power;
    }
  }

  /** Adds a block whose played and captured sound were compared. */
  add(block: EchoBlock): void {
    const { crossRe, crossIm, power } = this;
    const { firstBin, lastBin } = this.spectrum;
    for (let bin = firstBin; bin <= lastBin; bin++) {
      crossRe[bin] = valueAt(crossRe, bin) * MEMORY + valueAt(block.crossRe, bin);
      crossIm[bin] = valueAt(crossIm, bin) * MEMORY + valueAt(block.crossIm, bin);
      power[bin] = valueAt(power, bin) * MEMORY + valueAt(block.power, bin);
    }
  }

  /** The level of the path around this lag. */
  dbAt(lag: number): number {
    const { size } = this.spectrum;
    const bins = this.findPath();
    // The cross spectrum covers the echo of one block; the power that divides it covers twice the time.
    return (
      10 * Math.log10((this.directPower(lag) * size) / Math.max(1, bins)) -
      20 * Math.log10(this.coverage(lag))
    );
  }

  /** Writes the path by lag to the spectrum's real part. @returns its number of bins, including the mirrored ones */
  private findPath(): number {
    const { spectrum, crossRe, crossIm, power } = this;
    const { firstBin, lastBin } = spectrum;
    let sum = 0;
    for (let bin = firstBin; bin <= lastBin; bin++) sum += valueAt(power, bin);
    const least = (sum / (lastBin - firstBin + 1)) * STRONG;
    spectrum.clear();
    let used = 0;
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const played = valueAt(power, bin);
      if (played < least || played === 0) continue;
      used += 2;
      spectrum.setBin(bin, valueAt(crossRe, bin) / played, valueAt(crossIm, bin) / played);
    }
    spectrum.inverse();
    return used;
  }

  /** Power of the path in the window around a lag, without the noise that is the same at all lags. */
  private directPower(lag: number): number {
    const { re, size } = this.spectrum;
    const lags = size / 2;
    const from = lag - (DIRECT_MS.before * this.rateHz) / 1000;
    const until = lag + (DIRECT_MS.after * this.rateHz) / 1000;
    let inside = 0;
    let total = 0;
    let samples = 0;
    for (let index = 0; index < lags; index++) {
      const square = valueAt(re, index) ** 2;
      total += square;
      if (index < from || index > until) continue;
      inside += square;
      samples += 1;
    }
    const noise = (total - inside) / Math.max(1, lags - samples);
    return Math.max(inside - noise * samples, inside * (1 - MOST_NOISE), 1e-12);
  }

  /** Share of the played power in the stretches from which an echo with this lag would come. */
  private coverage(lag: number): number {
    const { size } = this.spectrum;
    const first = Math.round(((size / 2 - lag) / size) * STRETCHES);
    let inside = 0;
    let total = 1e-30;
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      const power = valueAt(this.stretches, stretch);
      total += power;
      if (stretch >= first && stretch < first + STRETCHES / 2) inside += power;
    }
    return Math.max(0.05, inside / total);
  }
}
