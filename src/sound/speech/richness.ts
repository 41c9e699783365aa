import { createRealSpectrum } from '../real-spectrum.ts';
import { FRAME_SAMPLES } from './band.ts';

/** Samples analysed: two frames, long enough to separate the harmonics of most voices. */
const LENGTH = 2 * FRAME_SAMPLES;
const SIZE = 512;
/** Range of bins used: those outside (below 62 Hz, above 3.9 kHz) are the edge of the band. */
const FIRST_BIN = 4;
const END_BIN = 250;
const SILENT = 1e-15;

export interface RichnessFinder {
  /**
   * Number of spectral lines that hold the power of the last two frames, as the natural logarithm of bins. One to three
   * tones give less than 2.3; a voice gives more, because its formants lift a dozen harmonics. 0 if `isLookedAt` is false.
   * Call it for every frame.
   */
  hear(frame: Float32Array, isLookedAt: boolean): number;
}

export function createRichnessFinder(): RichnessFinder {
  const spectrum = createRealSpectrum(SIZE);
  const recent = new Float32Array(LENGTH);
  const time = new Float64Array(SIZE);
  const [re, im] = [new Float64Array(spectrum.bins), new Float64Array(spectrum.bins)];
  const shape = Float64Array.from(
    { length: LENGTH },
    (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (index + 0.5)) / LENGTH),
  );
  // A voice falls by 6 dB per octave or more; without this slope the lowest formant would hide the others.
  const rise = Float64Array.from({ length: END_BIN }, (_, bin) => 4 * Math.sin((Math.PI * bin) / SIZE) ** 2);

  const find = (): number => {
    for (let index = 0; index < LENGTH; index++)
      time[index] = (recent[index] as number) * (shape[index] as number);
    spectrum.forward(time, re, im);
    let sum = 0;
    let squares = 0;
    for (let bin = FIRST_BIN; bin < END_BIN; bin++) {
      const power = ((re[bin] as number) ** 2 + (im[bin] as number) ** 2 + SILENT) * (rise[bin] as number);
      sum += power;
      squares += power * power;
    }
    return Math.log((sum * sum) / squares);
  };

  return {
    hear(frame, isLookedAt) {
      recent.copyWithin(0, FRAME_SAMPLES);
      recent.set(frame, FRAME_SAMPLES);
      return isLookedAt ? find() : 0;
    },
  };
}
