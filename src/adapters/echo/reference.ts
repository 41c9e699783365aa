import type { Timeline } from '../../core/audio/echo-timeline.ts';

/** What was played, frame by frame in step with what is captured. */
export interface Reference {
  /** @param at when the frame of captured sound began that this one belongs to */
  next(at: number): Float32Array;
}

/**
 * What is played is shown to the canceller this much early: the moment at which it is heard is an estimate, and an echo that
 * comes before its sound can't be taken out.
 */
const LEAD_MS = 20;
/** Times of captured sound are estimates, too; beyond this they mean that some of it is missing. */
const JUMP_MS = 15;
/** Of what the two are apart, this much is made good in each frame: slow enough to be no wobble, fast enough for any clock. */
const PULL = 0.02;

/** @param frameSamples of a frame of the reference; @param frameMs how long a frame of captured sound takes */
export function createReference(timeline: Timeline, frameSamples: number, frameMs: number): Reference {
  const perMs = timeline.rateHz / 1000;
  const step = (frameMs * perMs) / frameSamples;
  // One sample before and two behind, for the curve through four.
  const source = new Float32Array(Math.ceil(frameSamples * step) + 4);
  let place = Number.NEGATIVE_INFINITY;
  return {
    next(at) {
      const wanted = (at + LEAD_MS) * perMs;
      const off = wanted - place;
      place = Math.abs(off) > JUMP_MS * perMs ? Math.round(wanted) : place + off * PULL;
      const first = Math.floor(place);
      timeline.read(first - 1, source);
      const frame = new Float32Array(frameSamples);
      for (let index = 0; index < frameSamples; index++)
        frame[index] = between(source, 1 + place - first + index * step);
      place += frameMs * perMs;
      return frame;
    },
  };
}

/** The sound between samples, by the cubic curve through the four around it. */
function between(samples: Float32Array, place: number): number {
  const at = Math.floor(place);
  const t = place - at;
  const a = samples[at - 1] ?? 0;
  const b = samples[at] ?? 0;
  const c = samples[at + 1] ?? 0;
  const d = samples[at + 2] ?? 0;
  return b + (t / 2) * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}
