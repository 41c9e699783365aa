/** The last of the microphone's sound as it was captured, frame by frame. */
export interface RecentSound {
  /** Takes the next frame. */
  push(frame: Float32Array): void;
  /** The frame that came this many frames before the last one; a view that the next frame changes. */
  before(frames: number): Float32Array;
  /** One frame of it, as late as the canceller gives its sound back; a view that the next frame changes. */
  readonly late: Float32Array;
}

/** @param frames how many are kept before the last one; @param lateSamples how late is late */
export function createRecentSound(frameSamples: number, frames: number, lateSamples: number): RecentSound {
  const samples = new Float32Array(Math.max((frames + 1) * frameSamples, frameSamples + lateSamples));
  const endingAt = (end: number): Float32Array => samples.subarray(end - frameSamples, end);
  return {
    push(frame) {
      samples.copyWithin(0, frameSamples);
      endingAt(samples.length).set(frame);
    },
    before: (count) => endingAt(samples.length - count * frameSamples),
    late: endingAt(samples.length - lateSamples),
  };
}

/** Goes over from one sound to another within a frame, into `target`, which may be either of them. */
export function blend(target: Float32Array, from: Float32Array, to: Float32Array): void {
  for (let index = 0; index < target.length; index++) {
    const share = (index + 0.5) / target.length;
    target[index] = (from[index] ?? 0) * (1 - share) + (to[index] ?? 0) * share;
  }
}
