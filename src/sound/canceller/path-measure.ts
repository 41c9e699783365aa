import { valueAt } from '../fourier.ts';
import type { FrameTransform, Tones } from './frame-transform.ts';

/** Minimum power of played sound to compare (full scale is 1). */
const PLAYED_POWER = 1e-6;
/** Tones weaker than this share of the mean played power are ignored. */
const AUDIBLE = 3e-3;

/** Measures the path from the loudspeaker to the microphone over several frames of both sounds. */
export class PathMeasure {
  /** The path as last found: for each tone, the ratio of the heard to the played sound. */
  readonly path: Tones;
  private readonly transform: FrameTransform;
  /** Tones of the present frame. */
  private readonly played: Tones;
  private readonly heard: Tones;
  /** Sums over the frames. */
  private readonly cross: Tones;
  private readonly playedPower: Float64Array;
  private readonly heardPower: Float64Array;
  private loudness = 0;
  private middles = 0;
  private count = 0;

  constructor(transform: FrameTransform) {
    this.transform = transform;
    this.path = transform.createTones();
    this.played = transform.createTones();
    this.heard = transform.createTones();
    this.cross = transform.createTones();
    this.playedPower = transform.createPowers();
    this.heardPower = transform.createPowers();
  }

  /** Number of frames. */
  get frames(): number {
    return this.count;
  }

  /** Middle of the frames, loud ones counting more (samples). */
  get middle(): number {
    return this.middles / this.loudness;
  }

  clear(): void {
    const { cross, playedPower, heardPower } = this;
    for (const values of [cross.re, cross.im, playedPower, heardPower]) values.fill(0);
    this.count = 0;
    this.middles = 0;
    this.loudness = 0;
  }

  /** Adds a frame, unless too little was played. @param end samples heard until its end */
  add(played: Float64Array, heard: Float64Array, end: number): void {
    const { transform } = this;
    const { size } = transform;
    let sum = 0;
    for (let at = 0; at < size; at++) sum += valueAt(played, at) ** 2;
    if (sum < PLAYED_POWER * size) return;
    transform.forward(played, this.played);
    transform.forward(heard, this.heard);
    this.sumTones();
    this.count += 1;
    this.middles += (end - size / 2) * sum;
    this.loudness += sum;
  }

  /** Writes the path to `path`, without weak tones. @returns the share of the heard sound that came along it */
  find(): number {
    const { path, cross, playedPower, heardPower } = this;
    const { first, last } = this.transform;
    let mean = 0;
    for (let bin = first; bin <= last; bin++) mean += valueAt(playedPower, bin);
    mean /= last - first + 1;
    let coherence = 0;
    let weights = 1e-30;
    for (let bin = first; bin <= last; bin++) {
      const played = valueAt(playedPower, bin);
      const isHeard = played > mean * AUDIBLE;
      const crossPower = valueAt(cross.re, bin) ** 2 + valueAt(cross.im, bin) ** 2;
      const weight = isHeard ? 1 / (played + mean * AUDIBLE) : 0;
      // A low share means that a person is speaking, which says nothing about the path.
      const share = crossPower / (played * valueAt(heardPower, bin) + 1e-30);
      path.re[bin] = valueAt(cross.re, bin) * weight * share;
      path.im[bin] = valueAt(cross.im, bin) * weight * share;
      coherence += share * played;
      weights += played;
    }
    return Math.max(0, (coherence / weights - 1 / this.count) / (1 - 1 / this.count));
  }

  /** Adds the present frame's cross spectrum and powers to the sums. */
  private sumTones(): void {
    const { played, heard, cross, playedPower, heardPower } = this;
    const { first, last } = this.transform;
    for (let bin = first; bin <= last; bin++) {
      const xRe = valueAt(played.re, bin);
      const xIm = valueAt(played.im, bin);
      const yRe = valueAt(heard.re, bin);
      const yIm = valueAt(heard.im, bin);
      cross.re[bin] = valueAt(cross.re, bin) + yRe * xRe + yIm * xIm;
      cross.im[bin] = valueAt(cross.im, bin) + yIm * xRe - yRe * xIm;
      playedPower[bin] = valueAt(playedPower, bin) + xRe * xRe + xIm * xIm;
      heardPower[bin] = valueAt(heardPower, bin) + yRe * yRe + yIm * yIm;
    }
  }
}
