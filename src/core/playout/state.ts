import type { Heard } from '../uplink/gate.ts';
import type { Utterance } from './sentences.ts';
import { EMPTY_TIMELINE, type PlayoutTimeline, stretchesOf } from './timeline.ts';

/** Why a sentence is not to be heard; `stop`: nobody wants the lane to speak any more. */
export type DropReason = 'lag' | 'no_loudspeaker' | 'barge_in' | 'stop';

/** A stream whose sound has no names, in one language: the number of its sentence, and when the last of its sound came. */
export interface Nameless {
  readonly stream: number;
  /** As the service tags it; empty: it does not. */
  readonly language: string;
  readonly number: number;
  readonly at: number;
}

export interface Playout {
  readonly utterances: readonly Utterance[];
  /** The stretch of time in which the loudspeaker is, was or will be heard; `until` is the end of what is written. */
  readonly heard: Heard | null;
  /** The last few stretches before that one, oldest first: a chunk can come late, when the next one already sounds. */
  readonly earlier: readonly Heard[];
  /** What those two are calculated from. */
  readonly timeline: PlayoutTimeline;
  /** Sentences of which nothing more is to be heard, although more of them may come. */
  readonly unwanted: readonly {
    readonly stream: number;
    readonly key: string;
    readonly why: DropReason;
  }[];
  /** What came of them since they were given up, over all time, bytes. */
  readonly late: Readonly<Record<DropReason, number>>;
  /** The last sound without a name of each stream and language: what follows it soon belongs to it. */
  readonly nameless: readonly Nameless[];
  readonly queuedBytes: number;
  /** Thrown away, over all time: for want of room, for lag, or by a flush. */
  readonly droppedBytes: number;
  /** Written of what the service sent. */
  readonly writtenBytes: number;
  /** Whole sentences given up so that speech does not lag, with what came of them later. */
  readonly shed: { readonly sentences: number; readonly bytes: number };
  /** Since when more has waited, at every look, than a sentence that comes as it is spoken leaves waiting. */
  readonly laggingSince: number | null;
  /** Times that a sentence ran dry in its middle. */
  readonly gaps: number;
}

export const SILENT_PLAYOUT: Playout = {
  utterances: [],
  heard: null,
  earlier: [],
  timeline: EMPTY_TIMELINE,
  unwanted: [],
  late: { lag: 0, no_loudspeaker: 0, barge_in: 0, stop: 0 },
  nameless: [],
  queuedBytes: 0,
  droppedBytes: 0,
  writtenBytes: 0,
  shed: { sentences: 0, bytes: 0 },
  laggingSince: null,
  gaps: 0,
};

/** How the lane's loudspeaker is fed. */
export interface PlayoutFormat {
  /** A gap within a sentence gets soft edges; otherwise nothing is written but what the service sent. */
  readonly softEdges: boolean;
  /** Sound that lags runs a little faster; otherwise it is written as it was sent. */
  readonly quickens: boolean;
  /** PCM bytes per millisecond at the stream's rate. */
  readonly bytesPerMs: number;
  /** This much speech may wait between what sounds and the newest sentence; then the oldest sentence goes. */
  readonly lagMs: number;
  /** Written up to this far ahead: bridges a busy event loop, short enough to stop and to duck at once. */
  readonly aheadMs: number;
  /** With less than this left it is written again; null: a share of what is written ahead. */
  readonly refillMs?: number | null;
}

export function withTimeline(playout: Playout, timeline: PlayoutTimeline): Playout {
  return { ...playout, timeline, ...stretchesOf(timeline) };
}
