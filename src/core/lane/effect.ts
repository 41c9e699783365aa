import type { EventKind } from '../../protocol/mqtt/event.ts';
import type { TokenReason } from '../../protocol/mqtt/token.ts';
import type { WriteKind } from '../playout/playout.ts';
import type { TimerName } from './event.ts';

export interface Caption {
  /** What was said, or its translation. */
  readonly kind: 'source' | 'translation';
  /** False: the text may still change. */
  readonly isFinal: boolean;
  readonly id: string | null;
  /** A translation may come in several parts; null where it is whole. */
  readonly part: string | null;
  readonly language: string;
  readonly text: string;
}

/**
 * `not_live`: there was no session to say it in. `silent`: the service did not begin to speak it. `cut`: something of it was
 * thrown away unheard. `lost`: the session ended before it was heard.
 */
export type SaidOutcome = 'played' | 'not_live' | 'refused' | 'silent' | 'cut' | 'lost';

/** Everything a lane can want done. Carried out in order, after the step that produced them. */
export type LaneEffect =
  | {
      readonly type: 'request_token';
      readonly id: string;
      readonly reason: TokenReason;
      readonly attempt: number;
    }
  /** The token behind this grant will not be needed (again). */
  | { readonly type: 'forget_grant'; readonly grant: string }
  | { readonly type: 'open_stream'; readonly stream: number; readonly grant: string }
  | {
      readonly type: 'send_task';
      readonly stream: number;
      readonly source: string;
      readonly targets: readonly string[];
      readonly voice: string | null;
    }
  | { readonly type: 'poll_task'; readonly stream: number }
  /** `pcm` null: one chunk of silence. `capturedAt` null: no captured chunk, sent to let the service hear time pass. */
  | {
      readonly type: 'send_audio';
      readonly stream: number;
      readonly pcm: Uint8Array | null;
      readonly capturedAt: number | null;
      /** It had to wait behind an outage or a backlog: its latency says nothing about the way from the microphone to here. */
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
  /** What became of a text, for the watchers. `message`: the service's words where it refused. */
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
  /** Whether the loudspeaker is taken out of what is captured, from now on and whenever the microphone opens. */
  | { readonly type: 'cancel_echo'; readonly on: boolean }
  /** `receivedAt` is set on sound that found the loudspeaker free: the measure of wire-to-speaker latency. */
  | {
      readonly type: 'play';
      readonly pcm: Uint8Array;
      readonly kind: WriteKind;
      /** Its number; when it is heard comes back as `sounding` under the same. */
      readonly write: number;
      readonly receivedAt: number | null;
      /** Of speech, where the service tells it: each has a voice of its own. */
      readonly language?: string;
    }
  | { readonly type: 'flush_playback' }
  | { readonly type: 'set_volume'; readonly percent: number }
  /** A visitor speaks over the translation: it goes down, and comes up again. */
  | { readonly type: 'duck'; readonly on: boolean }
  | {
      readonly type: 'arm';
      readonly timer: TimerName;
      readonly at: number;
      /** It may go off this much later: what is hardly ever needed must not cost a wake-up each time. */
      readonly slackMs: number;
    }
  | { readonly type: 'disarm'; readonly timer: TimerName }
  | {
      readonly type: 'notify';
      readonly kind: EventKind;
      readonly detail: Readonly<Record<string, unknown>>;
      /** Moments that the event tells, monotonic milliseconds. */
      readonly times?: Readonly<Record<string, number>>;
    }
  | { readonly type: 'caption'; readonly caption: Caption };
