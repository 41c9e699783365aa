import type { ServiceEvent, StreamFault, UnreadableWhat } from '../../ports/stream.ts';
import type { CaptureFinding } from '../audio/capture-watch.ts';
import type { Earcon } from '../audio/earcon.ts';
import type { EchoMeasure } from '../audio/echo-measure.ts';
import type { AudiblePart } from '../playout/timeline.ts';
import type { ChunkLevels } from '../speech/noise-floor.ts';
import type { EchoMode } from '../uplink/gate.ts';
import type { LaneOptions } from './lane-options.ts';

/** The timers of a lane; arming one again replaces it. */
export type TimerName =
  | 'token'
  | 'retry'
  | 'setup'
  | 'poll'
  | 'pace'
  | 'ping'
  | 'silence'
  | 'stable'
  | 'drain'
  | 'playout'
  | 'roll'
  | 'drainOld'
  | 'standby'
  | 'duck'
  | 'earcon'
  | 'warning'
  | 'closing'
  | 'saying';

/** Why no session may be begun: outside the opening hours, or the day's budget is spent. */
export type Hold = 'closed' | 'budget';

/** What the core may know of a token: everything but the token. */
export interface Grant {
  /** The request it answers; the token store keeps the token under this name. */
  readonly id: string;
  /** Shortened, for reports. */
  readonly session: string;
  /** Where its stream goes: a host, with its port where that is not the usual one. */
  readonly streamHost: string;
  /** How long after its creation it may open a stream, by the service's own clock (`connect_by - created_at`). */
  readonly windowMs: number;
  readonly maxDurationMs: number | null;
  readonly intent: string;
  readonly connectionType: string;
}

export interface Denial {
  readonly code: string;
  readonly message: string;
  readonly final: boolean;
  readonly retryAfterMs: number | null;
}

/** Everything that can happen to a lane. `stream` numbers say which connection speaks: late voices are ignored. */
export type LaneEvent =
  | { readonly type: 'start' }
  | { readonly type: 'stop' }
  | { readonly type: 'shutdown' }
  /** No session may be begun from now on, and the one that runs ends with its sentence; null: sessions are allowed. */
  | { readonly type: 'hold'; readonly hold: Hold | null }
  | { readonly type: 'options'; readonly options: Partial<LaneOptions> }
  /** The connection to the backend. */
  | { readonly type: 'broker'; readonly up: boolean }
  /** The backend has not answered for this long that it counts as dead, or it is back. */
  | { readonly type: 'backend'; readonly silent: boolean }
  | { readonly type: 'granted'; readonly grant: Grant }
  | { readonly type: 'denied'; readonly id: string; readonly denial: Denial }
  /** The answer to the token request holds a session that cannot be used here. */
  | { readonly type: 'unusable'; readonly id: string; readonly message: string }
  | { readonly type: 'opened'; readonly stream: number }
  /** No answer to the attempt to open it. `spent`: the token may have reached the service. `isOurs`: this machine had no room for it. */
  | {
      readonly type: 'unreached';
      readonly stream: number;
      readonly spent: boolean;
      readonly message: string;
      readonly isOurs?: boolean | undefined;
    }
  /** The connection was ended on this side: because of what the service sent, or of what failed here. */
  | {
      readonly type: 'broke';
      readonly stream: number;
      readonly fault: StreamFault;
      readonly message: string;
    }
  | { readonly type: 'service'; readonly stream: number; readonly said: ServiceEvent }
  /** The service has sent what cannot be read. */
  | {
      readonly type: 'unreadable';
      readonly stream: number;
      readonly what: UnreadableWhat;
      readonly description: string;
    }
  | { readonly type: 'pong'; readonly stream: number }
  /** More waits to leave this machine than `congestedBytes`; `drained` follows when all of it has left. */
  | { readonly type: 'congested'; readonly stream: number }
  | { readonly type: 'drained'; readonly stream: number }
  | {
      readonly type: 'captured';
      /** When its first sample was captured, where that is earlier than its length tells. */
      readonly beganAt?: number;
      readonly capturedAt: number;
      readonly pcm: Uint8Array;
      readonly levels: ChunkLevels;
    }
  /** A finite source has delivered its last sound; silence follows. */
  | { readonly type: 'capture_ended' }
  | {
      readonly type: 'audio_fault';
      readonly device: 'capture' | 'playback';
      readonly code: string;
      readonly message: string;
    }
  /** The loudspeaker was recognised in the microphone, or in what the canceller left of it. */
  | { readonly type: 'echo_heard'; readonly heard: 'microphone' | 'cancelled'; readonly measure: EchoMeasure }
  | {
      readonly type: 'canceller';
      readonly status: 'starting' | 'ready' | 'found' | 'failed';
      readonly message: string;
    }
  /** A chime that somebody asked for: it sounds whatever `earcons` says. */
  | { readonly type: 'chime'; readonly earcon: Earcon }
  /** A sound of the machine's own, such as what it says at boot; it waits for the sentence that is spoken. */
  | { readonly type: 'announce'; readonly pcm: Uint8Array }
  /** A text that the service is to speak, under the operator's name for it; `said` tells what became of it. */
  | {
      readonly type: 'say';
      readonly id: string;
      readonly text: string;
      readonly language: string;
      readonly translate: boolean;
    }
  /** The operator's word on the echo mode, even if it is the one that was wanted before: it is tried again. */
  | { readonly type: 'set_echo'; readonly mode: EchoMode }
  | {
      readonly type: 'capture_news';
      readonly finding: CaptureFinding;
      readonly present: boolean;
      readonly message: string;
    }
  /** So much of what was written was never heard: the device was away. */
  | { readonly type: 'unheard'; readonly ms: number }
  /** A loudspeaker that had failed sounds again. */
  | { readonly type: 'playback_back' }
  /**
   * When a write is heard, as the device tells it; nothing of it where `until` is not after `from`. `from` null: a
   * correction of when all that was written up to it will have been heard.
   */
  | {
      readonly type: 'sounding';
      readonly write: number;
      readonly from: number | null;
      readonly until: number;
      /** What of the write can be heard at all; not said: all of it. */
      readonly audible?: AudiblePart;
    }
  | { readonly type: 'timer'; readonly timer: TimerName }
  /**
   * A step of this lane threw, or what it wanted done did: its state is not to be trusted any more.
   * `during`: the event of the step that threw. What it told is not told again.
   */
  | { readonly type: 'defect'; readonly where: string; readonly during?: LaneEvent };
