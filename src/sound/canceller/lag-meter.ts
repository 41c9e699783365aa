import { FrameTransform } from './frame-transform.ts';
import { KnownPath } from './known-path.ts';
import { PathMeasure } from './path-measure.ts';

/** Change of the echo's delay since an earlier time. */
export interface LagMeasure {
  /** Samples; negative if the echo comes earlier. */
  readonly lag: number;
  /** 0 to 1: how alike the two echoes are apart from the lag. */
  readonly likeness: number;
  /** Age of the measurement in samples, counted from the middle of the frames used. */
  readonly ago: number;
  /** Number of frames used. */
  readonly frames: number;
  /** First measurement: the reference for later ones, with no information about the time before. */
  readonly isFirst: boolean;
}

/**
 * Compares the loudspeaker's present echo in the microphone with an earlier one. In one room, the two differ only by the
 * drift between the clocks. Accurate to a hundredth of a sample from a second of speech, even while people speak.
 */
export interface LagMeter {
  /**
   * @param now samples heard until the end of this sound
   * @returns a measurement once there is enough new sound
   */
  hear(played: Float32Array, heard: Float32Array, now: number): LagMeasure | null;
  /** Discards the measurement in progress, because the times of the sounds were corrected. */
  restart(): void;
  /** Forgets the reference. */
  forget(): void;
}

/** Frames per measurement: few at first, when the clocks may drift fast. */
const FRAMES = { first: 4, most: 12, more: 2 };
/** After this many consecutive measurements unlike the known path, it is forgotten: the room has changed. */
const MISSES = 4;
/** Minimum share of the heard sound that comes from the played sound; below it there is no echo to measure. */
const LEAST_COHERENCE = 0.08;

export function createLagMeter(rateHz: number): LagMeter {
  return new PathLagMeter(rateHz);
}

/** Sums frames until there are enough for a path, and compares that path with the known one. */
class PathLagMeter implements LagMeter {
  private readonly frame: LatestFrame;
  private readonly measure: PathMeasure;
  private readonly known: KnownPath;
  /** Number of frames for the next measurement. */
  private wanted = FRAMES.first;
  /** Measurements in a row that were unlike the known path. */
  private misses = 0;

  constructor(rateHz: number) {
    const transform = new FrameTransform(rateHz);
    this.frame = new LatestFrame(transform.size);
    this.measure = new PathMeasure(transform);
    this.known = new KnownPath(transform);
  }

  hear(played: Float32Array, heard: Float32Array, now: number): LagMeasure | null {
    const { frame, measure } = this;
    if (!frame.take(played, heard)) return null;
    measure.add(frame.played, frame.heard, now);
    return measure.frames >= this.wanted ? this.conclude(now) : null;
  }

  restart(): void {
    this.measure.clear();
    this.frame.clear();
    this.wanted = FRAMES.first;
  }

  forget(): void {
    this.restart();
    this.known.forget();
    this.misses = 0;
  }

  private conclude(now: number): LagMeasure | null {
    const { known, measure } = this;
    const { path, frames, middle } = measure;
    const coherence = measure.find();
    measure.clear();
    if (coherence < LEAST_COHERENCE) return null;
    const ago = now - middle;
    if (!known.isKnown) {
      known.follow(path, 0, middle);
      return { lag: 0, likeness: 1, ago, frames, isFirst: true };
    }
    const { lag, likeness, isAlike } = known.match(path, middle);
    if (!isAlike) {
      this.miss();
      return null;
    }
    this.misses = 0;
    this.wanted = Math.min(FRAMES.most, this.wanted + FRAMES.more);
    known.follow(path, lag, middle);
    return { lag, likeness, ago, frames, isFirst: false };
  }

  private miss(): void {
    this.misses += 1;
    if (this.misses < MISSES) return;
    this.misses = 0;
    this.known.forget();
    this.wanted = FRAMES.first;
  }
}

/** The latest frame of both sounds. A frame begins in the middle of the one before. */
class LatestFrame {
  readonly played: Float64Array;
  readonly heard: Float64Array;
  /** Samples since the last frame. */
  private fresh = 0;
  /** Samples since the start. */
  private filled = 0;

  constructor(size: number) {
    this.played = new Float64Array(size);
    this.heard = new Float64Array(size);
  }

  /** @returns whether the next frame is complete */
  take(played: Float32Array, heard: Float32Array): boolean {
    const size = this.played.length;
    this.played.copyWithin(0, played.length);
    this.heard.copyWithin(0, heard.length);
    this.played.set(played, size - played.length);
    this.heard.set(heard, size - heard.length);
    this.fresh += heard.length;
    this.filled += heard.length;
    if (this.fresh < size / 2 || this.filled < size) return false;
    this.fresh = 0;
    return true;
  }

  /** Waits for a whole frame of new sound. */
  clear(): void {
    this.filled = 0;
  }
}
