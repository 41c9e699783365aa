import type { Heard } from './heard.ts';
import type { Piece, Utterance } from './sentences.ts';
import { EMPTY_TIMELINE, type PlayoutTimeline, stretchesOf } from './timeline.ts';

/** Why a sentence is dropped; `stop`: the lane must stop speaking; `headset`: it was plugged in or out meanwhile. */
export type DropReason = 'lag' | 'no_loudspeaker' | 'barge_in' | 'stop' | 'headset';

/** Why further sound of a sentence is not played; `noise`: it is not speech. */
export type UnwantedReason = DropReason | 'noise';

/** Counter of sentences for a stream whose sound has no names, in one language. */
export interface Nameless {
  readonly stream: number;
  /** Language tag from the service; empty if it sends none. */
  readonly language: string;
  readonly number: number;
  readonly at: number;
}

/** The last sentence that was received in each language, to be spoken again without the service. */
export interface LastSpoken {
  readonly stream: number;
  readonly key: string;
  /** Language tag from the service; null: it sends none. */
  readonly language: string | null;
  readonly pieces: readonly Piece[];
}

export interface Playout {
  readonly utterances: readonly Utterance[];
  /** The current or last stretch in which the loudspeaker is heard; `until` is the end of all written sound. */
  readonly heard: Heard | null;
  /** The last few stretches before, oldest first: a chunk may arrive late, when the next stretch already plays. */
  readonly earlier: readonly Heard[];
  /** Basis of `heard` and `earlier`. */
  readonly timeline: PlayoutTimeline;
  /** Dropped sentences whose remaining sound may still arrive. */
  readonly unwanted: readonly {
    readonly stream: number;
    readonly key: string;
    readonly why: UnwantedReason;
  }[];
  /** Bytes that arrived for dropped sentences, in total. */
  readonly late: Readonly<Record<UnwantedReason, number>>;
  /** Counters for sound without names: sound that soon follows belongs to the same sentence. */
  readonly nameless: readonly Nameless[];
  /** What can be spoken again; the lane decides how long it is kept. */
  readonly lastSpoken: readonly LastSpoken[];
  readonly queuedBytes: number;
  /** Bytes dropped in total: for lack of space, for lag, or by a flush. */
  readonly droppedBytes: number;
  /** Bytes of the service's sound that were written. */
  readonly writtenBytes: number;
  /** Whole sentences dropped against lag, including their sound that arrived later. */
  readonly shed: { readonly sentences: number; readonly bytes: number };
  /** Since when playback has lagged at every check; null: it keeps up. */
  readonly laggingSince: number | null;
  /** Underruns in the middle of a sentence. */
  readonly gaps: number;
}

export const SILENT_PLAYOUT: Playout = {
  utterances: [],
  heard: null,
  earlier: [],
  timeline: EMPTY_TIMELINE,
  unwanted: [],
  late: { lag: 0, no_loudspeaker: 0, barge_in: 0, stop: 0, headset: 0, noise: 0 },
  nameless: [],
  lastSpoken: [],
  queuedBytes: 0,
  droppedBytes: 0,
  writtenBytes: 0,
  shed: { sentences: 0, bytes: 0 },
  laggingSince: null,
  gaps: 0,
};

/** Parameters of writing to the lane's loudspeaker. */
export interface PlayoutFormat {
  /** Fade at a gap within a sentence; otherwise only the service's sound is written. */
  readonly softEdges: boolean;
  /** Play lagging sound a little faster; otherwise it is written as received. */
  readonly quickens: boolean;
  /** PCM bytes per millisecond at the stream's rate. */
  readonly bytesPerMs: number;
  /** Maximum waiting speech between the current sentence and the newest one; beyond it the oldest sentence is dropped. */
  readonly lagMs: number;
  /** How far ahead sound is written: enough to bridge a busy event loop, short enough to stop and to duck at once. */
  readonly aheadMs: number;
  /** Refill when less than this is left; null: a share of `aheadMs`. */
  readonly refillMs?: number | null;
}

export function withTimeline(playout: Playout, timeline: PlayoutTimeline): Playout {
  return { ...playout, timeline, ...stretchesOf(timeline) };
}
