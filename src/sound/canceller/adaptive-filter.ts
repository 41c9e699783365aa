import { transformLength, valueAt } from '../fourier.ts';
import { createRealSpectrum } from '../real-spectrum.ts';

/**
 * Learns the path from loudspeaker to microphone and estimates the loudspeaker's echo in the microphone. It is a Kalman
 * filter in the frequency domain, partitioned into blocks (Enzner and Vary 2006, Kuech 2014). For each frequency it
 * weighs its own error against the voices in the room. It therefore keeps learning while a person speaks.
 */
export interface AdaptiveFilter {
  /** Estimated echo in the last block. */
  readonly echo: Float64Array;
  /** The last block without the estimated echo. */
  readonly rest: Float64Array;
  /** Estimated power of the remaining echo by frequency, from the filter's own error estimate. */
  readonly residualPower: Float64Array;
  /** Processes one block of played sound and the sound heard meanwhile. @param learns whether to learn from it */
  step(played: Float32Array, heard: Float32Array, learns: boolean): void;
  /** The learnt path: `partitions` spectra of `bins` values each. */
  readonly path: { readonly re: Float64Array; readonly im: Float64Array };
  readonly partitions: number;
  readonly bins: number;
  /** The path has changed: lowers the confidence in the learnt path. */
  relearn(): void;
  /** The path is a different one: forgets the learnt path. @param gain share of the played power that the new path passes */
  forget(gain: number): void;
}

export interface FilterOptions {
  readonly blockSamples: number;
  readonly partitions: number;
}

/**
 * Process noise: the share of the path's power assumed to change per block with sound, because rooms change and clocks drift.
 * A pause adds no process noise: otherwise the filter would be unsure of the path at the first words after a pause.
 */
const CHANGE = 2e-3;
/** A block with a higher mean power than this has sound (full scale is 1). */
const SOUNDS = 1e-7;
/** Smoothing of the near-end power over the last blocks (share kept). */
const NEAR_END = { rise: 0.5, fall: 0.9 };
/** Uncertainty at the start: the path decays by `fall` per block, and may be `margin` times stronger than given. */
const UNKNOWN = { fall: 0.85, margin: 4 };
/** Minimum power, against division by zero. */
const TINY = 1e-12;
/** Spectral leakage: a block has hard edges, so a loud tone leaks this share of its power into this many bins on each side. */
const SPILLS = { share: 0.1, bins: 4 };
/** Number of partitions that each step trims to one block, in rotation. */
const TRIMMED = 3;

export function createAdaptiveFilter({ blockSamples, partitions }: FilterOptions): AdaptiveFilter {
  const size = transformLength(blockSamples * 2);
  /** Samples of a transform before its block. */
  const earlier = size - blockSamples;
  const spectrum = createRealSpectrum(size);
  /** The block's share of a transform. */
  const share = blockSamples / size;
  const { bins } = spectrum;
  const all = partitions * bins;
  const make = () => new Float64Array(all);
  /** `own`: estimated power that did not leak from another bin. */
  const played = { re: make(), im: make(), power: make(), own: make() };
  const path = { re: new Float64Array(all), im: new Float64Array(all) };
  const uncertainty = new Float64Array(all);
  const nearEnd = new Float64Array(bins);
  const echoSpectrum = { re: new Float64Array(bins), im: new Float64Array(bins) };
  const rest = { re: new Float64Array(bins), im: new Float64Array(bins) };
  const time = new Float64Array(size);
  const playedTime = new Float64Array(size);
  const echo = new Float64Array(blockSamples);
  const left = new Float64Array(blockSamples);
  /** Index of the newest partition of the played sound. */
  let newest = 0;
  let turn = 0;
  const scratch = { re: new Float64Array(bins), im: new Float64Array(bins) };

  /** Largest assumed power of the whole path. */
  let power = 0;
  const distrust = (): void => {
    for (let part = 0; part < partitions; part++) {
      const share = (1 - UNKNOWN.fall) * UNKNOWN.fall ** part;
      uncertainty.fill(power * share, part * bins, (part + 1) * bins);
    }
  };

  const take = (sound: Float32Array): void => {
    playedTime.copyWithin(0, blockSamples);
    playedTime.set(sound, earlier);
    newest = (newest + partitions - 1) % partitions;
    spectrum.forward(playedTime, scratch.re, scratch.im);
    const base = newest * bins;
    played.re.set(scratch.re, base);
    played.im.set(scratch.im, base);
    for (let bin = 0; bin < bins; bin++)
      played.power[base + bin] = valueAt(scratch.re, bin) ** 2 + valueAt(scratch.im, bin) ** 2;
    for (let bin = 0; bin < bins; bin++) played.own[base + bin] = ownPower(base, bin);
  };
  const ownPower = (base: number, bin: number): number => {
    const power = valueAt(played.power, base + bin);
    let loudest = TINY;
    const last = Math.min(bins - 1, bin + SPILLS.bins);
    for (let near = Math.max(0, bin - SPILLS.bins); near <= last; near++)
      loudest = Math.max(loudest, valueAt(played.power, base + near));
    return power * Math.min(1, power / (SPILLS.share * loudest));
  };

  const calculate = (): void => {
    const { re, im } = echoSpectrum;
    re.fill(0);
    im.fill(0);
    for (let part = 0; part < partitions; part++) {
      const from = ((newest + part) % partitions) * bins;
      const to = part * bins;
      for (let bin = 0; bin < bins; bin++) {
        const xRe = valueAt(played.re, from + bin);
        const xIm = valueAt(played.im, from + bin);
        const wRe = valueAt(path.re, to + bin);
        const wIm = valueAt(path.im, to + bin);
        re[bin] = valueAt(re, bin) + xRe * wRe - xIm * wIm;
        im[bin] = valueAt(im, bin) + xRe * wIm + xIm * wRe;
      }
    }
    spectrum.inverse(re, im, time);
    echo.set(time.subarray(earlier));
  };

  const total = new Float64Array(bins);
  const residualPower = new Float64Array(bins);
  const learn = (change: number): void => {
    time.fill(0, 0, earlier);
    time.set(left, earlier);
    spectrum.forward(time, rest.re, rest.im);
    total.fill(TINY);
    for (let part = 0; part < partitions; part++) {
      const from = ((newest + part) % partitions) * bins;
      const to = part * bins;
      for (let bin = 0; bin < bins; bin++)
        total[bin] =
          valueAt(total, bin) + share * valueAt(played.power, from + bin) * valueAt(uncertainty, to + bin);
    }
    residualPower.set(total);
    for (let bin = 0; bin < bins; bin++) {
      const now = valueAt(rest.re, bin) ** 2 + valueAt(rest.im, bin) ** 2;
      const before = valueAt(nearEnd, bin);
      const kept = now > before ? NEAR_END.rise : NEAR_END.fall;
      nearEnd[bin] = kept * before + (1 - kept) * now;
      total[bin] = valueAt(total, bin) + valueAt(nearEnd, bin);
    }
    for (let part = 0; part < partitions; part++) {
      const from = ((newest + part) % partitions) * bins;
      const to = part * bins;
      for (let bin = 0; bin < bins; bin++) {
        const gain = valueAt(uncertainty, to + bin) / valueAt(total, bin);
        const xRe = valueAt(played.re, from + bin);
        const xIm = valueAt(played.im, from + bin);
        const eRe = valueAt(rest.re, bin);
        const eIm = valueAt(rest.im, bin);
        const wRe = valueAt(path.re, to + bin) + gain * (xRe * eRe + xIm * eIm);
        const wIm = valueAt(path.im, to + bin) + gain * (xRe * eIm - xIm * eRe);
        path.re[to + bin] = wRe;
        path.im[to + bin] = wIm;
        const known = 1 - share * gain * valueAt(played.own, from + bin);
        uncertainty[to + bin] =
          (1 - change) * known * valueAt(uncertainty, to + bin) + change * (wRe * wRe + wIm * wIm) + TINY;
      }
    }
  };

  /** Cuts a partition to one block: learning adds values beyond it, which would wrap around (circular convolution). */
  const trim = (part: number): void => {
    const base = part * bins;
    scratch.re.set(path.re.subarray(base, base + bins));
    scratch.im.set(path.im.subarray(base, base + bins));
    spectrum.inverse(scratch.re, scratch.im, time);
    time.fill(0, blockSamples);
    spectrum.forward(time, scratch.re, scratch.im);
    path.re.set(scratch.re, base);
    path.im.set(scratch.im, base);
  };

  return {
    echo,
    rest: left,
    residualPower,
    path,
    partitions,
    bins,
    step(sound, heard, learns) {
      take(sound);
      calculate();
      for (let at = 0; at < blockSamples; at++) left[at] = (heard[at] ?? 0) - valueAt(echo, at);
      if (!learns) return;
      learn(sounds(sound) ? CHANGE : 0);
      for (let count = 0; count < TRIMMED; count++) {
        trim(turn);
        turn = (turn + 1) % partitions;
      }
      trim(0);
    },
    relearn: distrust,
    forget(gain) {
      power = gain * UNKNOWN.margin;
      distrust();
      path.re.fill(0);
      path.im.fill(0);
    },
  };
}

function sounds(sound: Float32Array): boolean {
  let power = 0;
  for (let at = 0; at < sound.length; at++) power += (sound[at] as number) ** 2;
  return power > SOUNDS * sound.length;
}
