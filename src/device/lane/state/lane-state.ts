import type { Seed } from '../../../core/random.ts';
import type { TokenReason } from '../../../protocol/mqtt/token.ts';
import type { CaptureFinding } from '../../../sound/capture-watch.ts';
import { type EchoGuard, NO_ECHO } from '../../../sound/echo-guard.ts';
import { type NoiseFloor, UNKNOWN_NOISE_FLOOR } from '../../../sound/speech/noise-floor.ts';
import { type Playout, SILENT_PLAYOUT } from '../../playout/playout.ts';
import { type Backlog, EMPTY_BACKLOG } from '../uplink/backlog.ts';
import { IDLE_PACER, type Pacer } from '../uplink/pacer.ts';
import type { LaneConversation } from './lane-conversation.ts';
import type { Hold, TimerName } from './lane-event.ts';
import type { LaneOptions, LaneSettings, RefusedTask, TaskOptions } from './lane-options.ts';
import type { DroppedSpeech, SpeechLoss, UnspokenLanguage } from './loss-record.ts';
import type { OldSession, PendingTokenRequest, Session } from './session-state.ts';
import { NO_SILENT_ENDS, type SilentEnds } from './silence-watch.ts';
import {
  type Chimes,
  type DeviceFaults,
  type LaneProblem,
  NO_CHIMES,
  NO_DEVICE_FAULTS,
  NO_TURNS,
  NOTHING_SPOKEN,
  type RoomSound,
  type Saying,
  type SpokenVoice,
  type TwoWay,
  type Unreadable,
} from './state-parts.ts';

/** A hold came while a session ran; its last sentence is being finished. */
export interface Closing {
  /** When the hold came. */
  readonly since: number;
  /** The last sentence has ended: later speech is not captured. */
  readonly isDeaf: boolean;
}

export interface LaneCounts {
  /** Streams that went live. */
  readonly sessions: number;
  /** Sessions that replaced one that reached its limit. */
  readonly rollovers: number;
  /** Switches to another session in the middle of a sentence. */
  readonly splits: number;
  readonly revocations: number;
  readonly maxDurations: number;
  /** Failed attempts and broken streams. */
  readonly failures: number;
  /** Chunks taken back from a broken stream, to be replayed to the next stream. */
  readonly takenBack: number;
  /** Sentences replayed because the service cut off their translation. */
  readonly saidAgain: number;
  /** Speech that a service took and did not speak in full (ms), all languages together. */
  readonly unspokenMs: number;
  /** Translated speech that was not played (ms). */
  readonly speechDroppedMs: number;
  /** How often the lane went to standby. */
  readonly standbys: number;
  /** How long streams were open (ms); a stream is added when it ends. */
  readonly streamMs: number;
  /** Silent chunks sent because the microphone delivered nothing. */
  readonly fillers: number;
  /** Defects of the program that ended a step. */
  readonly defects: number;
  /** Messages that the core ignored. */
  readonly ignored: number;
}

export const NO_COUNTS: LaneCounts = {
  sessions: 0,
  rollovers: 0,
  splits: 0,
  revocations: 0,
  maxDurations: 0,
  failures: 0,
  takenBack: 0,
  saidAgain: 0,
  unspokenMs: 0,
  speechDroppedMs: 0,
  standbys: 0,
  streamMs: 0,
  fillers: 0,
  defects: 0,
  ignored: 0,
};

/** The whole state of a lane. Plain data, without any token. */
export interface LaneState {
  readonly settings: LaneSettings;
  /** The options as the operator ordered them, including those that the service refused. */
  readonly options: LaneOptions;
  /** The part of the options that the service refused; null: none so far. */
  readonly refusedTask: RefusedTask | null;
  /** The last task that the service ran, also before a restart; null: none yet. */
  readonly acceptedTask: TaskOptions | null;
  /** The conversation at the lane's desk; null: none. */
  readonly conversation: LaneConversation | null;
  /** The operator's text that the service is speaking; null: none. */
  readonly saying: Saying | null;
  /** Whether the lane has been started and not stopped. */
  readonly wanted: boolean;
  /** Why no session may begin although the lane is wanted; null: one may. */
  readonly hold: Hold | null;
  /** Set while the last sentence before a hold is being finished. */
  readonly closing: Closing | null;
  /** The agent is shutting down: no session begins after this one. */
  readonly ending: boolean;
  readonly brokerUp: boolean;
  /** The backend counts as unavailable: no answer within the timeout. */
  readonly backendSilent: boolean;
  /** Prefix and counter of the request names used inside the agent; the ids sent to the backend are random and unknown here. */
  readonly idPrefix: string;
  readonly nextId: number;
  readonly nextStream: number;
  readonly seed: Seed;
  /** When each timer is due (monotonic ms); null: not armed. */
  readonly timers: Readonly<Record<TimerName, number | null>>;
  /** The current session and the one being set up; the published phase follows from it. */
  readonly session: Session;
  /** The previous session, while it finishes speaking. */
  readonly oldSession: OldSession | null;
  /** Rollovers since the account last refused a second stream; null: it accepts one, as far as known. */
  readonly rolloversWithoutRoom: number | null;
  /** Longest recent time from sending a task until it ran (ms); 0: unknown. */
  readonly longestSetupMs: number;
  /** Why the next session is needed. */
  readonly reason: TokenReason;
  /** Consecutive failures since the last stable stream. */
  readonly failures: number;
  /** Since when the lane has been trying to get a session; null: it has one, or needs none. */
  readonly noSessionSince: number | null;
  /** The ongoing loss of speech; null: none. */
  readonly loss: SpeechLoss | null;
  /** How many of the backlog's lost chunks are already part of a loss, reported or not. */
  readonly lostCounted: number;
  /** How often the service has marked the end of a sentence's sound. */
  readonly endsMarked: number;
  /** The service sends unreadable texts or sound; null: it does not. */
  readonly unreadable: Unreadable | null;
  /** Speech that the service took and did not speak, for each language. */
  readonly unspoken: readonly UnspokenLanguage[];
  /** Consecutive sessions that the lane ended because the service sent no result. */
  readonly silentEnds: SilentEnds;
  /** Consecutive tokens that the service refused without a reason, since the last live stream. */
  readonly refusedTokens: number;
  /** The last token request, if it got only denials or unusable answers: a later usable answer still counts. */
  readonly unfulfilled: PendingTokenRequest | null;
  /** Consecutive restarts because of bugs since the last stable stream. */
  readonly crashes: number;
  /** The last failure on the way to a session. */
  readonly problem: LaneProblem | null;
  /** A recent objection from the service that did not end the session. */
  readonly warning: LaneProblem | null;
  readonly captureLost: boolean;
  readonly deviceFaults: DeviceFaults;
  /** Problems with the sound that the microphone delivers. */
  readonly captureFindings: readonly CaptureFinding[];
  readonly echo: EchoGuard;
  /** Since when half-duplex has silenced every chunk; null: the last chunk was open. */
  readonly silencedSince: number | null;
  /** `silencedSince`, set once the gate has been closed long enough to report it; null: not yet. */
  readonly deafSince: number | null;
  readonly playbackLost: boolean;
  /** The plug of the headset is in: since when, and the volume there (percent). Null: the loudspeaker is in use. */
  readonly headset: { readonly since: number; readonly volume: number } | null;
  /** Another output is being opened: speech waits for it. */
  readonly isSwitching: boolean;
  /** When the failed loudspeaker was last probed, or speech began to wait for it; null: neither yet. */
  readonly probedAt: number | null;
  /** Translated speech that was not played and is not reported yet; null: none. */
  readonly dropped: DroppedSpeech | null;
  /** The source was finite and has delivered its last sound. */
  readonly captureEnded: boolean;
  /** The microphone delivers nothing: silence is sent instead. */
  readonly starved: boolean;
  /** A voice seems to have woken the lane, and the service has sent no text or sound since. */
  readonly isUnanswered: boolean;
  /** Times of recent wakes in vain, oldest first. */
  readonly vainWakes: readonly number[];
  /** Approximate level of the room in the speech band (dBFS); null: unknown. */
  readonly roomDb: number | null;
  /** When a voice was last heard, or a session began. */
  readonly lastVoiceAt: number;
  /** When the lane's own detector was last sure of a voice, or the lane was started. */
  readonly sureVoiceAt: number;
  /** The last speech that the service translated and spoke. */
  readonly spoken: SpokenVoice;
  readonly capturedCount: number;
  readonly noiseFloor: NoiseFloor;
  readonly backlog: Backlog;
  readonly pacer: Pacer;
  readonly playout: Playout;
  /** The translation is turned down because a visitor speaks. */
  readonly ducked: boolean;
  /** This visitor's interruption has been handled, or there was nothing to interrupt. */
  readonly bargedIn: boolean;
  readonly chimes: Chimes;
  readonly twoWay: TwoWay;
  /** The loudspeaker of the other lane in the room; null: the lane is alone. */
  readonly room: RoomSound | null;
  readonly counts: LaneCounts;
}

const NO_TIMERS: LaneState['timers'] = {
  token: null,
  retry: null,
  setup: null,
  poll: null,
  pace: null,
  ping: null,
  silence: null,
  stable: null,
  drain: null,
  playout: null,
  roll: null,
  drainOld: null,
  standby: null,
  duck: null,
  earcon: null,
  warning: null,
  closing: null,
  saying: null,
};

/**
 * The state of a lane before its first event.
 * @param acceptedTask the last task that the service ran before the restart
 * @param room the other lane's loudspeaker in the room; null: the lane is alone
 * @param idPrefix makes request names unique among the agent's lanes
 */
export function createLane(given: {
  settings: LaneSettings;
  options: LaneOptions;
  acceptedTask?: TaskOptions | null;
  room?: RoomSound | null;
  idPrefix: string;
  seed: Seed;
}): LaneState {
  return {
    ...given,
    acceptedTask: given.acceptedTask ?? null,
    refusedTask: null,
    conversation: null,
    wanted: false,
    hold: null,
    closing: null,
    saying: null,
    ending: false,
    brokerUp: false,
    backendSilent: false,
    nextId: 1,
    nextStream: 1,
    timers: NO_TIMERS,
    session: { kind: 'idle' },
    oldSession: null,
    rolloversWithoutRoom: null,
    longestSetupMs: 0,
    reason: 'start',
    failures: 0,
    noSessionSince: null,
    loss: null,
    lostCounted: 0,
    endsMarked: 0,
    unreadable: null,
    unspoken: [],
    silentEnds: NO_SILENT_ENDS,
    refusedTokens: 0,
    unfulfilled: null,
    crashes: 0,
    problem: null,
    warning: null,
    captureLost: false,
    deviceFaults: NO_DEVICE_FAULTS,
    captureFindings: [],
    echo: NO_ECHO,
    silencedSince: null,
    deafSince: null,
    playbackLost: false,
    headset: null,
    isSwitching: false,
    probedAt: null,
    dropped: null,
    captureEnded: false,
    starved: false,
    isUnanswered: false,
    vainWakes: [],
    roomDb: null,
    lastVoiceAt: Number.NEGATIVE_INFINITY,
    sureVoiceAt: Number.NEGATIVE_INFINITY,
    spoken: NOTHING_SPOKEN,
    capturedCount: 0,
    noiseFloor: UNKNOWN_NOISE_FLOOR,
    backlog: EMPTY_BACKLOG,
    pacer: IDLE_PACER,
    playout: SILENT_PLAYOUT,
    ducked: false,
    bargedIn: false,
    chimes: NO_CHIMES,
    twoWay: NO_TURNS,
    room: given.room ?? null,
    counts: NO_COUNTS,
  };
}

/**
 * A copy of a state. Each key is written out, because a spread of this many keys takes eight times as long and six times the
 * memory, and each step needs one.
 */
export function copyOf(state: LaneState): LaneState {
  return {
    settings: state.settings,
    options: state.options,
    refusedTask: state.refusedTask,
    acceptedTask: state.acceptedTask,
    conversation: state.conversation,
    saying: state.saying,
    wanted: state.wanted,
    hold: state.hold,
    closing: state.closing,
    ending: state.ending,
    brokerUp: state.brokerUp,
    backendSilent: state.backendSilent,
    idPrefix: state.idPrefix,
    nextId: state.nextId,
    nextStream: state.nextStream,
    seed: state.seed,
    timers: state.timers,
    session: state.session,
    oldSession: state.oldSession,
    rolloversWithoutRoom: state.rolloversWithoutRoom,
    longestSetupMs: state.longestSetupMs,
    reason: state.reason,
    failures: state.failures,
    noSessionSince: state.noSessionSince,
    loss: state.loss,
    lostCounted: state.lostCounted,
    endsMarked: state.endsMarked,
    unreadable: state.unreadable,
    unspoken: state.unspoken,
    silentEnds: state.silentEnds,
    refusedTokens: state.refusedTokens,
    unfulfilled: state.unfulfilled,
    crashes: state.crashes,
    problem: state.problem,
    warning: state.warning,
    captureLost: state.captureLost,
    deviceFaults: state.deviceFaults,
    captureFindings: state.captureFindings,
    echo: state.echo,
    silencedSince: state.silencedSince,
    deafSince: state.deafSince,
    playbackLost: state.playbackLost,
    headset: state.headset,
    isSwitching: state.isSwitching,
    probedAt: state.probedAt,
    dropped: state.dropped,
    captureEnded: state.captureEnded,
    starved: state.starved,
    isUnanswered: state.isUnanswered,
    vainWakes: state.vainWakes,
    roomDb: state.roomDb,
    lastVoiceAt: state.lastVoiceAt,
    sureVoiceAt: state.sureVoiceAt,
    spoken: state.spoken,
    capturedCount: state.capturedCount,
    noiseFloor: state.noiseFloor,
    backlog: state.backlog,
    pacer: state.pacer,
    playout: state.playout,
    ducked: state.ducked,
    bargedIn: state.bargedIn,
    chimes: state.chimes,
    twoWay: state.twoWay,
    room: state.room,
    counts: state.counts,
  };
}
