import type { ServiceEvent, StreamFault, UnreadableWhat } from '../../../ports/stream.ts';
import type { CaptureFinding } from '../../../sound/capture-watch.ts';
import type { Earcon } from '../../../sound/earcon.ts';
import type { EchoMode } from '../../../sound/echo-guard.ts';
import type { EchoMeasure } from '../../../sound/echo-measure.ts';
import type { ChunkLevels } from '../../../sound/speech/noise-floor.ts';
import type { Heard } from '../../playout/heard.ts';
import type { AudiblePart } from '../../playout/timeline.ts';
import type { LaneConversation } from './lane-conversation.ts';
import type { LaneOptions, Speaker } from './lane-options.ts';
import type { DeviceFaults } from './state-parts.ts';

/** The timers of a lane. Arming an armed timer replaces it. */
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

/** Why no session may begin: outside the opening hours, or the day's budget is spent. */
export type Hold = 'closed' | 'budget';

/** The answer to a token request, without the token itself. */
export interface Grant {
  /** Name of the request; the token store keeps the token under the same name. */
  readonly id: string;
  /** Session id, shortened for reports. */
  readonly session: string;
  /** Host of the stream, with the port if it is not the default. */
  readonly streamHost: string;
  /** How long after its creation the token may open a stream (ms), by the service's clock (`connect_by - created_at`). */
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

/** Everything that can happen to a lane. `stream` is the number of the connection; events of a closed connection are ignored. */
export type LaneEvent =
  | { readonly type: 'start' }
  | { readonly type: 'stop' }
  | { readonly type: 'shutdown' }
  /** No session may begin, and the current session ends after the current sentence; null: sessions are allowed. */
  | { readonly type: 'hold'; readonly hold: Hold | null }
  | { readonly type: 'options'; readonly options: Partial<LaneOptions> }
  /** A command, a key or the screen changes the volume of the output in use (percent). */
  | { readonly type: 'volume'; readonly percent: number }
  /** The plug of the headset went in or out. */
  | { readonly type: 'headset'; readonly isIn: boolean }
  /** A conversation has begun at the lane's desk; null: it has ended. */
  | { readonly type: 'conversation'; readonly conversation: LaneConversation | null }
  /** The connection to the broker was established or lost. */
  | { readonly type: 'broker'; readonly up: boolean }
  /** The backend became unavailable, or available again. */
  | { readonly type: 'backend'; readonly silent: boolean }
  | { readonly type: 'granted'; readonly grant: Grant }
  | { readonly type: 'denied'; readonly id: string; readonly denial: Denial }
  /** The answer to the token request contains a session that this device cannot use. */
  | { readonly type: 'unusable'; readonly id: string; readonly message: string }
  | { readonly type: 'opened'; readonly stream: number }
  /** The connection did not open. `spent`: the token may have reached the service. `isOurs`: this machine could not open it. */
  | {
      readonly type: 'unreached';
      readonly stream: number;
      readonly spent: boolean;
      readonly message: string;
      readonly isOurs?: boolean | undefined;
    }
  /** The agent ended the connection, because of a message of the service or a failure in the agent. */
  | {
      readonly type: 'broke';
      readonly stream: number;
      readonly fault: StreamFault;
      readonly message: string;
    }
  | { readonly type: 'service'; readonly stream: number; readonly said: ServiceEvent }
  /** The service has sent an unreadable message. */
  | {
      readonly type: 'unreadable';
      readonly stream: number;
      readonly what: UnreadableWhat;
      readonly description: string;
    }
  | { readonly type: 'pong'; readonly stream: number }
  /** More than `congestedBytes` wait to leave this machine; `drained` follows when all those bytes have left. */
  | { readonly type: 'congested'; readonly stream: number }
  | { readonly type: 'drained'; readonly stream: number }
  | {
      readonly type: 'captured';
      /** When the chunk's first sample was captured, if earlier than the chunk's length implies. */
      readonly beganAt?: number;
      readonly capturedAt: number;
      readonly pcm: Uint8Array;
      readonly levels: ChunkLevels;
      /** The whole chunk is the other person's speech, handled by the other lane in the room. */
      readonly isOthers?: true;
    }
  /** Playback of the other lane in the room. `playedMs`: sound given to its loudspeaker so far. */
  | { readonly type: 'room_heard'; readonly heard: readonly Heard[]; readonly playedMs: number }
  /** A finite source has delivered its last sound. */
  | { readonly type: 'capture_ended' }
  | {
      readonly type: 'audio_fault';
      readonly device: keyof DeviceFaults;
      readonly code: string;
      readonly message: string;
    }
  /** A device that is neither microphone nor loudspeaker works again. */
  | { readonly type: 'device_back'; readonly device: Exclude<keyof DeviceFaults, 'capture' | 'playback'> }
  /** The loudspeaker was recognised in the microphone, or in the canceller's output. */
  | { readonly type: 'echo_heard'; readonly heard: 'microphone' | 'cancelled'; readonly measure: EchoMeasure }
  | {
      readonly type: 'canceller';
      readonly status: 'starting' | 'ready' | 'found' | 'failed';
      readonly message: string;
    }
  /** A key, a command or the screen says who speaks. `held` false: the key was released. */
  | { readonly type: 'turn'; readonly speaker: Speaker; readonly held: boolean }
  /** A requested chime; it plays even with `earcons` off. */
  | { readonly type: 'chime'; readonly earcon: Earcon }
  /** A sound of the device itself, such as the announcement at boot; it waits for the end of the current sentence. */
  | { readonly type: 'announce'; readonly pcm: Uint8Array }
  /** A sentence of the spoken menu, in place of the one before, which is cut; null: none. Translated speech cuts it, too. */
  | { readonly type: 'prompt'; readonly pcm: Uint8Array | null }
  /** A visitor wants to hear the last translation into this language again. */
  | { readonly type: 'repeat'; readonly language: string }
  /** Speaks a phrase of the house, unless a translation plays. */
  | { readonly type: 'phrase'; readonly language: string; readonly pcm: Uint8Array }
  /** An operator's text for the service to speak, under the operator's `id`. The effect `said` reports the outcome. */
  | {
      readonly type: 'say';
      readonly id: string;
      readonly text: string;
      readonly language: string;
      readonly translate: boolean;
    }
  /** The operator orders an echo mode. The current mode may be ordered again, to retry it after a fallback. */
  | { readonly type: 'set_echo'; readonly mode: EchoMode }
  | {
      readonly type: 'capture_news';
      readonly finding: CaptureFinding;
      readonly present: boolean;
      readonly message: string;
    }
  /** Written sound that was not heard, because the loudspeaker was absent. */
  | { readonly type: 'unheard'; readonly ms: number }
  /** A loudspeaker that had failed works again, or the output was switched and is open. */
  | { readonly type: 'playback_back' }
  /**
   * When a write is heard, as the device reports. If `until` is not after `from`, the write is not heard. If `from` is null,
   * `until` corrects the end of everything written up to this write.
   */
  | {
      readonly type: 'sounding';
      readonly write: number;
      readonly from: number | null;
      readonly until: number;
      /** The audible part of the write; missing: the whole write. */
      readonly audible?: AudiblePart;
    }
  | { readonly type: 'timer'; readonly timer: TimerName }
  /**
   * A step of this lane, or one of its effects, threw: the state can no longer be trusted.
   * `during`: the event of the step that threw; it is not delivered again.
   */
  | { readonly type: 'defect'; readonly where: string; readonly during?: LaneEvent };
