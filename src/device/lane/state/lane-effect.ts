import type { EventKind } from '../../../protocol/mqtt/event.ts';
import type { TokenReason } from '../../../protocol/mqtt/token.ts';
import type { WriteKind } from '../../playout/playout.ts';
import type { TimerName } from './lane-event.ts';

/** A lane speaks to its loudspeaker, or to the headset of one listener. */
export type Output = 'loudspeaker' | 'headset';

export interface Caption {
  /** The transcript of the speech, or its translation. */
  readonly kind: 'source' | 'translation';
  /** False: the text may still change. */
  readonly isFinal: boolean;
  readonly id: string | null;
  /** Id of the part, if a translation comes in several; null: the translation is whole. */
  readonly part: string | null;
  readonly language: string;
  readonly text: string;
}

/**
 * `not_live`: there was no session. `silent`: the service did not begin to speak. `cut`: a part was dropped unheard.
 * `lost`: the session ended before the text was spoken.
 */
export type SaidOutcome = 'played' | 'not_live' | 'refused' | 'unsupported' | 'silent' | 'cut' | 'lost';

/** Everything a lane can ask for. The runner performs the effects of a step in their order, after the step. */
export type LaneEffect =
  | {
      readonly type: 'request_token';
      readonly id: string;
      readonly reason: TokenReason;
      readonly attempt: number;
    }
  /** The token of this grant is no longer needed. */
  | { readonly type: 'forget_grant'; readonly grant: string }
  | { readonly type: 'open_stream'; readonly stream: number; readonly grant: string }
  | {
      readonly type: 'send_task';
      readonly stream: number;
      readonly source: string;
      readonly targets: readonly string[];
      readonly voice: string | null;
      /** See `ServiceTask`. */
      readonly speaker?: 'target' | 'both';
    }
  | { readonly type: 'poll_task'; readonly stream: number }
  /** `pcm` null: one chunk of silence. `capturedAt` null: inserted silence that was not captured. */
  | {
      readonly type: 'send_audio';
      readonly stream: number;
      readonly pcm: Uint8Array | null;
      readonly capturedAt: number | null;
      /** The chunk waited in the backlog, so its age is not microphone latency. */
      readonly queued: boolean;
    }
  | { readonly type: 'ping'; readonly stream: number }
  | {
      readonly type: 'say';
      readonly stream: number;
      readonly text: string;
      readonly language: string;
      readonly translate: boolean;
    }
  /** The outcome of an operator's text. `message`: the service's explanation of a refusal. */
  | {
      readonly type: 'said';
      readonly id: string;
      readonly outcome: SaidOutcome;
      readonly message: string | null;
      readonly playedMs: number;
    }
  | { readonly type: 'end_task'; readonly stream: number }
  | { readonly type: 'close_stream'; readonly stream: number; readonly how: 'close' | 'terminate' }
  | { readonly type: 'open_capture' }
  | { readonly type: 'close_capture' }
  /** Switches the echo canceller, now and for every later opening of the microphone. */
  | { readonly type: 'cancel_echo'; readonly on: boolean }
  /** `receivedAt`: set if the loudspeaker was free, to measure the latency from receipt to playback. */
  | {
      readonly type: 'play';
      readonly pcm: Uint8Array;
      readonly kind: WriteKind;
      /** Number of the write; the event `sounding` reports under this number when it is heard. */
      readonly write: number;
      readonly receivedAt: number | null;
      /** Language of speech, if the service names it: each language has its own voice. */
      readonly language?: string;
    }
  | { readonly type: 'flush_playback' }
  /** All later sound goes to this output alone, at this volume. The event `playback_back` or `audio_fault` reports its opening. */
  | { readonly type: 'use_output'; readonly output: Output; readonly percent: number }
  | { readonly type: 'set_volume'; readonly percent: number }
  /** Turns the translation down while a visitor speaks over it. */
  | { readonly type: 'duck'; readonly on: boolean }
  | {
      readonly type: 'arm';
      readonly timer: TimerName;
      readonly at: number;
      /** Permitted delay (ms), so that a timer that seldom matters shares the wake-up of another. */
      readonly slackMs: number;
    }
  | { readonly type: 'disarm'; readonly timer: TimerName }
  | {
      readonly type: 'notify';
      readonly kind: EventKind;
      readonly detail: Readonly<Record<string, unknown>>;
      /** Timestamps in the event (monotonic ms). */
      readonly times?: Readonly<Record<string, number>>;
    }
  | { readonly type: 'caption'; readonly caption: Caption };
