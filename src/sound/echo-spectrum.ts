import { createSpectrum, type Spectrum } from './fourier.ts';

/** Band in which speech has most of its power and small loudspeakers work (Hz). */
const BAND_HZ = { from: 250, until: 1600 };

/** Working memory for the spectra of sound blocks; each use overwrites the one before. */
export class EchoSpectrum {
  readonly size: number;
  readonly firstBin: number;
  readonly lastBin: number;
  readonly re: Float64Array;
  readonly im: Float64Array;
  private readonly spectrum: Spectrum;

  constructor(size: number, rateHz: number) {
    this.size = size;
    this.firstBin = Math.ceil((BAND_HZ.from / rateHz) * size);
    this.lastBin = Math.floor((BAND_HZ.until / rateHz) * size);
    this.re = new Float64Array(size);
    this.im = new Float64Array(size);
    this.spectrum = createSpectrum(size);
  }

  /** A value for each bin up to the last. */
  createBins(): Float64Array {
    return new Float64Array(this.lastBin + 1);
  }

  clear(): void {
    this.re.fill(0);
    this.im.fill(0);
  }

  /** Sets a bin and its mirror, as in the spectrum of a real sound. */
  setBin(bin: number, real: number, imaginary: number): void {
    const mirror = this.size - bin;
    this.re[bin] = real;
    this.im[bin] = imaginary;
    this.re[mirror] = real;
    this.im[mirror] = -imaginary;
  }

  forward(): void {
    this.spectrum.forward(this.re, this.im);
  }

  inverse(): void {
    this.spectrum.inverse(this.re, this.im);
  }
}
