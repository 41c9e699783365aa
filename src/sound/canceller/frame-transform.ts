import { transformLength, valueAt } from '../fourier.ts';
import { createRealSpectrum, type RealSpectrum } from '../real-spectrum.ts';

/** Length of a frame (ms): longer than the first reflections of a room. */
const FRAME_MS = 160;
const BAND_HZ = { from: 200, until: 4500 };

/** Complex values, one for each tone of a frame. */
export interface Tones {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** Transforms frames of sound into tones, and tones back. Only tones from `first` to `last` are compared. */
export class FrameTransform {
  readonly rateHz: number;
  /** Samples of a frame. */
  readonly size: number;
  readonly first: number;
  readonly last: number;
  private readonly spectrum: RealSpectrum;
  private readonly window: Float64Array;
  private readonly time: Float64Array;

  constructor(rateHz: number) {
    const size = transformLength((FRAME_MS * rateHz) / 1000);
    this.rateHz = rateHz;
    this.size = size;
    this.spectrum = createRealSpectrum(size);
    this.first = Math.ceil((BAND_HZ.from / rateHz) * size);
    this.last = Math.min(this.spectrum.bins - 2, Math.floor((BAND_HZ.until / rateHz) * size));
    this.window = Float64Array.from(
      { length: size },
      (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (at + 0.5)) / size),
    );
    this.time = new Float64Array(size);
  }

  createTones(): Tones {
    return { re: this.createPowers(), im: this.createPowers() };
  }

  /** A real value for each tone. */
  createPowers(): Float64Array {
    return new Float64Array(this.spectrum.bins);
  }

  forward(sound: Float64Array, into: Tones): void {
    const { size, time, window } = this;
    for (let at = 0; at < size; at++) time[at] = valueAt(sound, at) * valueAt(window, at);
    this.spectrum.forward(time, into.re, into.im);
  }

  /** @returns the sound of these tones; the next call overwrites it */
  inverse({ re, im }: Tones): Float64Array {
    this.spectrum.inverse(re, im, this.time);
    return this.time;
  }
}
