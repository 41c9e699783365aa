import { transformLength, valueAt } from '../fourier.ts';
import { createRealSpectrum } from '../real-spectrum.ts';

/**
 * Attenuates the echo that the adaptive filter left, frequency by frequency, where no voice and no room noise hides it. It
 * learns the remaining share from how the remainder rises and falls with the echo (Valin 2007); voices do not.
 */
export interface ResidualFilter {
  /**
   * @param rest the adaptive filter's output; @param echo the echo that it removed; @param isNew the path is hardly learnt yet
   * @returns the previous block; overwritten by the next call
   */
  step(rest: Float64Array, echo: Float64Array, residualPower: Float64Array, isNew: boolean): Float64Array;
}

/** Strongest attenuation of a band (amplitude). */
const FLOOR = 0.03;
/** Bands in which the leak is learnt: bins in the lowest band, and growth from band to band. */
const BANDS = { first: 4, wider: 1.25 };
const LEAK = { share: 0.03, first: 0.5, least: 1e-5, most: 1 };
/** Factor on the mean remaining echo, so that stronger moments are attenuated too. */
const CAUTION = 2.2;
/** Weight of the adaptive filter's own error; `new` while most words contain tones not heard before. */
const OWN_ERROR = { usual: 0.8, new: 3 };
/** Decay of the room's echo per block. */
const DECAY = 0.7;
/** Weight of the previous block in the estimate of the voice. */
const MEMORY = 0.6;
/** Noise floor: the minimum over `stretches` times `blocks` blocks; `bias` is the factor from the minimum to the mean. */
const NOISE = { blocks: 24, stretches: 6, bias: 2, smooth: 0.8 };
const TINY = 1e-12;

export function createResidualFilter(blockSamples: number): ResidualFilter {
  const length = blockSamples * 2;
  const size = transformLength(length);
  const spectrum = createRealSpectrum(size);
  const { bins } = spectrum;
  const window = Float64Array.from({ length }, (_, at) => Math.sin((Math.PI * (at + 0.5)) / length));
  const edges = bandEdges(bins);
  const bands = edges.length - 1;
  const past = { rest: new Float64Array(length), echo: new Float64Array(length) };
  const time = new Float64Array(size);
  const rest = { re: new Float64Array(bins), im: new Float64Array(bins) };
  const echo = { re: new Float64Array(bins), im: new Float64Array(bins) };
  const sounding = new Float64Array(bins);
  const voice = new Float64Array(bins);
  const noise = createNoiseFloor(bins);
  const leak = new Float64Array(bands).fill(LEAK.first);
  const means = { rest: new Float64Array(bands), echo: new Float64Array(bands) };
  const both = new Float64Array(bands);
  const own = new Float64Array(bands).fill(TINY);
  const overlap = new Float64Array(blockSamples);
  const out = new Float64Array(blockSamples);

  const transform = (
    sound: Float64Array,
    history: Float64Array,
    into: { re: Float64Array; im: Float64Array },
  ) => {
    history.copyWithin(0, blockSamples);
    history.set(sound, blockSamples);
    for (let at = 0; at < length; at++) time[at] = valueAt(history, at) * valueAt(window, at);
    time.fill(0, length);
    spectrum.forward(time, into.re, into.im);
  };
  const powerIn = ({ re, im }: { re: Float64Array; im: Float64Array }, band: number): number => {
    let sum = 0;
    for (let bin = edges[band] ?? 0; bin < (edges[band + 1] ?? 0); bin++)
      sum += valueAt(re, bin) ** 2 + valueAt(im, bin) ** 2;
    return sum;
  };
  const learn = (): void => {
    for (let band = 0; band < bands; band++) {
      const restPower = powerIn(rest, band);
      const echoPower = powerIn(echo, band);
      const meanRest = valueAt(means.rest, band);
      const meanEcho = valueAt(means.echo, band);
      // With almost no echo there is nothing to learn, and the remainder would distort the estimate.
      const share = LEAK.share * Math.min(1, echoPower / (restPower + TINY));
      means.rest[band] = meanRest + LEAK.share * (restPower - meanRest);
      means.echo[band] = meanEcho + LEAK.share * (echoPower - meanEcho);
      const swing = echoPower - meanEcho;
      both[band] = (1 - share) * valueAt(both, band) + share * swing * (restPower - meanRest);
      own[band] = (1 - share) * valueAt(own, band) + share * swing * swing;
      const leakShare = valueAt(both, band) / (valueAt(own, band) + TINY);
      leak[band] = Math.min(LEAK.most, Math.max(LEAK.least, leakShare));
    }
  };
  const turnDown = (residualPower: Float64Array, isNew: boolean): void => {
    const ownError = isNew ? OWN_ERROR.new : OWN_ERROR.usual;
    for (let band = 0; band < bands; band++) {
      const share = valueAt(leak, band) * CAUTION;
      for (let bin = edges[band] ?? 0; bin < (edges[band + 1] ?? 0); bin++) {
        const power = valueAt(rest.re, bin) ** 2 + valueAt(rest.im, bin) ** 2 + TINY;
        const now = valueAt(echo.re, bin) ** 2 + valueAt(echo.im, bin) ** 2;
        const still = Math.max(now, DECAY * valueAt(sounding, bin));
        sounding[bin] = still;
        const residue = Math.max(still * share, ownError * valueAt(residualPower, bin)) + TINY;
        const quiet = noise.hear(bin, power);
        const ratio = power / residue;
        const prior = MEMORY * (valueAt(voice, bin) / residue) + (1 - MEMORY) * Math.max(0, ratio - 1);
        const wiener = prior / (1 + prior);
        const gain = Math.min(1, Math.max(wiener, FLOOR, Math.sqrt(quiet / power)));
        voice[bin] = gain * gain * power;
        rest.re[bin] = valueAt(rest.re, bin) * gain;
        rest.im[bin] = valueAt(rest.im, bin) * gain;
      }
    }
    noise.end();
  };

  return {
    step(left, taken, residualPower, isNew) {
      transform(left, past.rest, rest);
      transform(taken, past.echo, echo);
      learn();
      turnDown(residualPower, isNew);
      spectrum.inverse(rest.re, rest.im, time);
      for (let at = 0; at < blockSamples; at++) {
        out[at] = valueAt(overlap, at) + valueAt(time, at) * valueAt(window, at);
        overlap[at] = valueAt(time, blockSamples + at) * valueAt(window, blockSamples + at);
      }
      return out;
    },
  };
}

function bandEdges(bins: number): Uint32Array {
  const edges = [0];
  let width = BANDS.first;
  for (let at = BANDS.first; at < bins; at += Math.round(width)) {
    edges.push(at);
    width *= BANDS.wider;
  }
  return Uint32Array.from([...edges, bins]);
}

/** Noise level per frequency: the recent minimum. */
function createNoiseFloor(bins: number) {
  const smooth = new Float64Array(bins);
  const least = Array.from({ length: NOISE.stretches }, () => new Float64Array(bins).fill(Infinity));
  let stretch = 0;
  let blocks = 0;
  return {
    hear(bin: number, power: number): number {
      const value = NOISE.smooth * valueAt(smooth, bin) + (1 - NOISE.smooth) * power;
      smooth[bin] = value;
      const current = least[stretch];
      if (current !== undefined && value < valueAt(current, bin)) current[bin] = value;
      let minimum = value;
      for (const one of least) minimum = Math.min(minimum, valueAt(one, bin));
      return minimum * NOISE.bias;
    },
    end(): void {
      blocks += 1;
      if (blocks < NOISE.blocks) return;
      blocks = 0;
      stretch = (stretch + 1) % NOISE.stretches;
      least[stretch]?.fill(Infinity);
    },
  };
}
