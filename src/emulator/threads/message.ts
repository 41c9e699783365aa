import type { RenderJob } from '../core/render.ts';

/** Work of a thread of the emulator. */
export type Role = 'hearing' | 'speech';

/** One step for a voice detector in the hearing thread. Each `hear` and each `skip` is answered, in order. */
export type HearingStep =
  | { kind: 'open'; detector: number; rateHz: number }
  | { kind: 'hear'; detector: number; pcm: Int16Array }
  /** Sound for which there is no time (ms): it counts as no voice. */
  | { kind: 'skip'; detector: number; samples: number }
  | { kind: 'close'; detector: number };

/** Stretches that have been decided: the number of samples of each, negative without voice. */
export interface Decided {
  readonly detector: number;
  readonly stretches: Int32Array;
}

export type ToHearing = readonly HearingStep[];
export type FromHearing = readonly Decided[];
export type ToSpeech = RenderJob;
export interface FromSpeech {
  readonly id: number;
  readonly pcm: Uint8Array;
}
