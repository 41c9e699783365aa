import type { RenderJob } from '../core/render.ts';

/** The kind of work of a thread. */
export type Role = 'hearing' | 'speech';

/** One step for a voice detector in the hearing thread. Each `hear` and each `skip` gets an answer, in the same sequence. */
export type HearingStep =
  | { kind: 'open'; detector: number; rateHz: number }
  | { kind: 'hear'; detector: number; pcm: Int16Array }
  /** Skipped sound, which counts as no voice. */
  | { kind: 'skip'; detector: number; samples: number }
  | { kind: 'close'; detector: number };

/** Decided stretches: the number of samples of each, negative if without voice. */
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
