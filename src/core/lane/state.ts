import type { TokenReason } from '../../protocol/mqtt/token.ts';
import type { CaptureFinding } from '../audio/capture-watch.ts';
import { type EchoGuard, NO_ECHO } from '../audio/echo-guard.ts';
import type { DroppedSpeech, SpeechLoss, UnspokenLanguage } from '../losses/account.ts';
import { type Playout, SILENT_PLAYOUT } from '../playout/playout.ts';
import type { Seed } from '../random.ts';
import { type NoiseFloor, UNKNOWN_NOISE_FLOOR } from '../speech/noise-floor.ts';
import { type Backlog, EMPTY_BACKLOG } from '../uplink/backlog.ts';
import { IDLE_PACER, type Pacer } from '../uplink/pacer.ts';
import type { Hold, TimerName } from './event.ts';
import type { LaneOptions, LaneSettings, RefusedTask, TaskOptions } from './lane-options.ts';
import type { OldSession, Session } from './session/session.ts';
import { NO_SILENT_ENDS, type SilentEnds } from './session/silence.ts';
import {
  type Chimes,
  NO_CHIMES,
  NOTHING_SPOKEN,
  type Saying,
  type SpokenVoice,
  type Unreadable,
} from './state-parts.ts';

/** The last sentence before a hold is being finished. */
export interface Closing {
  /** When the hold came. */
  readonly since: number;
  /** The sentence has been heard to its end: what is said from now on is not heard any more. */
  readonly isDeaf: boolean;
}

export interface LaneProblem {
  readonly code: string;
  readonly message: string;
  readonly at: number;
}

/** Why microphone and loudspeaker do not work; null: they do. */
export interface DeviceFaults {
  readonly capture: LaneProblem | null;
  readonly playback: LaneProblem | null;
}

export interface LaneCounts {
  /** Streams that went live. */
  readonly sessions: number;
  /** Sessions that followed another one because that had reached its limit. */
  readonly rollovers: number;
  /** Switches to another session in the middle of a sentence. */
  readonly splits: number;
  readonly revocations: number;
  readonly maxDurations: number;
  /** Failed tries and broken streams. */
  readonly failures: number;
  /** Chunks taken back from a stream that broke off, to be said again to the next. */
  readonly takenBack: number;
  /** Sentences said again because the service cut their translation off. */
  readonly saidAgain: number;
  /** Speech that a service took and did not speak in full, milliseconds, the sum of all languages. */
  readonly unspokenMs: number;
  /** Translated speech that was not played, milliseconds. */
  readonly speechDroppedMs: number;
  /** Times that the lane went to sleep because nobody spoke. */
  readonly standbys: number;
  /** Time for which the service had a stream of ours open, milliseconds, up to the last one that ended. */
  readonly streamMs: number;
  /** Silent chunks sent because the microphone delivered nothing. */
  readonly fillers: number;
  /** Defects of the program that ended a step. */
  readonly defects: number;
  /** Messages of the service that the core had no use for. */
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

/** All that a lane knows. Plain data; no token in it. */
export interface LaneState {
  readonly settings: LaneSettings;
  /** What the operator has ordered, whatever the service says of it. */
  readonly options: LaneOptions;
  /** What of them the service does not take; null: nothing, as far as is known. */
  readonly refusedTask: RefusedTask | null;
  /** What the service ran last, before a restart too; null: nothing yet. */
  readonly acceptedTask: TaskOptions | null;
  /** What the service is speaking of the operator's; null: nothing. */
  readonly saying: Saying | null;
  /** Whether somebody wants the lane to run. */
  readonly wanted: boolean;
  /** Why no session may be begun, however much the lane is wanted; null: it may. */
  readonly hold: Hold | null;
  /** A hold came while a session ran, whose last sentence is being finished; null: none is. */
  readonly closing: Closing | null;
  /** The agent is ending: after the stream is gone, nothing begins again. */
  readonly ending: boolean;
  readonly brokerUp: boolean;
  /** The backend counts as dead. */
  readonly backendSilent: boolean;
  /** Prefix and counter of the lane's own names for its requests; ids on the wire are random and unknown here. */
  readonly idPrefix: string;
  readonly nextId: number;
  readonly nextStream: number;
  readonly seed: Seed;
  /** When each armed timer is due, monotonic milliseconds; null: not armed. */
  readonly timers: Readonly<Record<TimerName, number | null>>;
  /** What it has of sessions; the published phase follows from it. */
  readonly session: Session;
  /** The session before that one. */
  readonly oldSession: OldSession | null;
  /** Rollovers since the account had no room for a successor beside a live session; null: it has, as far as is known. */
  readonly rolloversWithoutRoom: number | null;
  /** How long a set-up has taken of late, from the task that is sent to the task that runs; 0: not known. */
  readonly longestSetupMs: number;
  /** Why the next session is needed. */
  readonly reason: TokenReason;
  /** Failures in a row since the last stable stream. */
  readonly failures: number;
  /** Since when it is on its way to a session; null: it has one, or needs none. */
  readonly noSessionSince: number | null;
  /** Speech is being lost; null: it is not. */
  readonly loss: SpeechLoss | null;
  /** How many of the chunks that the backlog counts as lost are part of a loss, told or not. */
  readonly lostCounted: number;
  /** How often the service has said where the sound of a sentence ends. */
  readonly endsMarked: number;
  /** What the service says cannot be read; null: it can. */
  readonly unreadable: Unreadable | null;
  /** Speech that the service took and did not speak, by language. */
  readonly unspoken: readonly UnspokenLanguage[];
  /** Sessions in a row that were ended because they said nothing. */
  readonly silentEnds: SilentEnds;
  /** Tokens in a row that the service refused without a word of why, since the last live stream. */
  readonly refusedTokens: number;
  /** Defects of the program in a row since the last stable stream. */
  readonly crashes: number;
  /** What is wrong with the way to a session. */
  readonly problem: LaneProblem | null;
  /** What the service objected to of late without ending a session. */
  readonly warning: LaneProblem | null;
  readonly captureLost: boolean;
  readonly deviceFaults: DeviceFaults;
  /** What is wrong with a microphone that delivers. */
  readonly captureFindings: readonly CaptureFinding[];
  readonly echo: EchoGuard;
  /** Since when each chunk has been silenced for the loudspeaker's sake; null: the last one was not. */
  readonly silencedSince: number | null;
  /** The same, once it is long enough to be told. */
  readonly deafSince: number | null;
  readonly playbackLost: boolean;
  /** When it was tried last whether it takes sound, or something began to wait for it; null: nothing has since it failed. */
  readonly probedAt: number | null;
  /** Translated speech that was not played and is not reported yet; null: nothing. */
  readonly dropped: DroppedSpeech | null;
  /** The source was finite and has delivered its last sound. */
  readonly captureEnded: boolean;
  /** The microphone has delivered nothing for this long that silence is sent in its place. */
  readonly starved: boolean;
  /** A voice seems to have woken the lane, and the service has said nothing since. */
  readonly isUnanswered: boolean;
  /** When it woke in vain of late, oldest first. */
  readonly vainWakes: readonly number[];
  /** The usual level of the room in the band of speech, about; null: not known. */
  readonly roomDb: number | null;
  /** When somebody was heard speaking last, or a session began. */
  readonly lastVoiceAt: number;
  /** When the lane's own detector was sure of a voice last, or it was started. */
  readonly sureVoiceAt: number;
  /** The last that the service has spoken. */
  readonly spoken: SpokenVoice;
  readonly capturedCount: number;
  readonly noiseFloor: NoiseFloor;
  readonly backlog: Backlog;
  readonly pacer: Pacer;
  readonly playout: Playout;
  /** The translation is turned down because somebody speaks. */
  readonly ducked: boolean;
  /** The one who speaks has been counted as speaking over the translation, or there was none. */
  readonly bargedIn: boolean;
  readonly chimes: Chimes;
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
 * A lane before its first event.
 * @param acceptedTask what the service ran before a restart
 * @param idPrefix makes the names of requests unique among the agent's lanes
 */
export function createLane(given: {
  settings: LaneSettings;
  options: LaneOptions;
  acceptedTask?: TaskOptions | null;
  idPrefix: string;
  seed: Seed;
}): LaneState {
  return {
    ...given,
    acceptedTask: given.acceptedTask ?? null,
    refusedTask: null,
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
    crashes: 0,
    problem: null,
    warning: null,
    captureLost: false,
    deviceFaults: { capture: null, playback: null },
    captureFindings: [],
    echo: NO_ECHO,
    silencedSince: null,
    deafSince: null,
    playbackLost: false,
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
    counts: NO_COUNTS,
  };
}
