import { transformLength, valueAt } from '../fourier.ts';
import { createRealSpectrum } from '../real-spectrum.ts';

/**
 * Detects that the path from loudspeaker to microphone has changed: the remaining sound then rises and falls with the
 * estimated echo, tone by tone. A voice does not do that.
 */
export interface PathChangeDetector {
  /** @returns true if the learnt path is wrong */
  hear(echo: Float64Array, rest: Float64Array): boolean;
}

/** Duration of echo needed for a verdict (ms). At a change, all of it came over the new path, so the filter can relearn from it. */
export const CHANGED_MS = 250;
/** Time until the next verdict (ms). */
const AGAIN_MS = 1000;
/** Minimum power of an echo. */
const ECHO_POWER = 1e-8;
/** The path has changed only if the remaining sound is more than this share of the echo. */
const MATTERS = 0.04;
/** The path has changed only if more than this share of the remaining sound follows the echo. */
const ALIKE = 0.35;
/** The path counts as known once the remaining sound is below this share of the echo. */
const KNOWN = 0.03;
const TINY = 1e-20;

export function createPathChangeDetector(blockMs: number, blockSamples: number): PathChangeDetector {
  const length = 2 * blockSamples;
  const size = transformLength(length);
  const spectrum = createRealSpectrum(size);
  const { bins } = spectrum;
  const window = Float64Array.from({ length }, (_, at) => Math.sin((Math.PI * (at + 0.5)) / length));
  const make = () => ({ re: new Float64Array(bins), im: new Float64Array(bins) });
  const [e, r, cross] = [make(), make(), make()];
  const power = { echo: new Float64Array(bins), rest: new Float64Array(bins) };
  const time = new Float64Array(size);
  const past = { echo: new Float64Array(length), rest: new Float64Array(length) };
  let isHalf = false;
  let [frames, heardMs, quietMs, echoes, rests] = [0, 0, 0, 0, 0];
  let isKnown = false;

  const clear = (): void => {
    for (const values of [cross.re, cross.im, power.echo, power.rest]) values.fill(0);
    frames = heardMs = echoes = rests = 0;
  };
  const transform = (sound: Float64Array, into: { re: Float64Array; im: Float64Array }): void => {
    for (let at = 0; at < length; at++) time[at] = valueAt(sound, at) * valueAt(window, at);
    time.fill(0, length);
    spectrum.forward(time, into.re, into.im);
  };
  const addFrame = (): void => {
    transform(past.echo, e);
    transform(past.rest, r);
    for (let bin = 0; bin < bins; bin++) {
      const [eRe, eIm] = [valueAt(e.re, bin), valueAt(e.im, bin)];
      const [rRe, rIm] = [valueAt(r.re, bin), valueAt(r.im, bin)];
      cross.re[bin] = valueAt(cross.re, bin) + eRe * rRe + eIm * rIm;
      cross.im[bin] = valueAt(cross.im, bin) + eRe * rIm - eIm * rRe;
      power.echo[bin] = valueAt(power.echo, bin) + eRe * eRe + eIm * eIm;
      power.rest[bin] = valueAt(power.rest, bin) + rRe * rRe + rIm * rIm;
    }
    frames += 1;
  };
  /** 0 to 1: how much of the remaining sound follows the echo, loud tones weighing most. */
  const alike = (): number => {
    let [sum, weights] = [0, TINY];
    for (let bin = 0; bin < bins; bin++) {
      const both = valueAt(cross.re, bin) ** 2 + valueAt(cross.im, bin) ** 2;
      sum += both / (valueAt(power.rest, bin) + TINY);
      weights += valueAt(power.echo, bin);
    }
    // With few frames, part of the match is chance.
    return (sum / weights - 1 / frames) / (1 - 1 / frames);
  };

  return {
    hear(echo, rest) {
      past.echo.copyWithin(0, echo.length);
      past.rest.copyWithin(0, rest.length);
      past.echo.set(echo, blockSamples);
      past.rest.set(rest, blockSamples);
      let [echoPower, restPower] = [0, 0];
      for (let at = 0; at < echo.length; at++) {
        echoPower += valueAt(echo, at) ** 2;
        restPower += valueAt(rest, at) ** 2;
      }
      if (echoPower < ECHO_POWER * echo.length) return false;
      quietMs = Math.max(0, quietMs - blockMs);
      echoes += echoPower;
      rests += restPower;
      heardMs += blockMs;
      isHalf = !isHalf;
      if (!isHalf) addFrame();
      if (heardMs < CHANGED_MS) return false;
      const isWrong = rests > MATTERS * echoes && alike() > ALIKE;
      if (rests < KNOWN * echoes) isKnown = true;
      clear();
      if (!isWrong || quietMs > 0 || !isKnown) return false;
      isKnown = false;
      quietMs = AGAIN_MS;
      return true;
    },
  };
}
