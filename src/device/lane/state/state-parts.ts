import type { Earcon } from '../../../sound/earcon.ts';
import type { Heard } from '../../playout/heard.ts';
import type { Speaker } from './lane-options.ts';

/** An uninterrupted run of unreadable texts or sound. */
export interface Unreadable {
  /** When the first of them came. */
  readonly since: number;
  /** When the last of them came. */
  readonly at: number;
  /** Sound was among them, so readable texts do not end the problem. */
  readonly isSound: boolean;
}

/** Speech that the service has translated and spoken: it was a voice, even if the lane's own detector was not sure. */
export interface SpokenVoice {
  /** Capture time of the newest chunk. */
  readonly at: number;
  /** Capture time of the newest chunk of the last sentence in which the detector was not sure of a voice. */
  readonly unsureAt: number;
}

export const NOTHING_SPOKEN: SpokenVoice = {
  at: Number.NEGATIVE_INFINITY,
  unsureAt: Number.NEGATIVE_INFINITY,
};

/** State that the chimes have signalled to the listeners. */
export interface Chimes {
  /** Whether the lane has been live since its start. */
  readonly wasLive: boolean;
  /** `up`: a session receives speech, or soon will; `away`: it is gone; `signalled`: it is gone, and a chime has signalled that. */
  readonly session: 'up' | 'away' | 'signalled';
  /** When the last chime about the session was played; `muteAt`: about the microphone. */
  readonly sessionAt: number;
  readonly muteAt: number;
  /** A chime that waits for a pause of speech, and since when. */
  readonly due: { readonly earcon: Earcon; readonly since: number } | null;
  /** When a voice was last heard. */
  readonly voiceAt: number;
  /** The last mute state that was signalled; null: the lane is at rest. */
  readonly muted: boolean | null;
}

export const NO_CHIMES: Chimes = {
  wasLive: false,
  session: 'up',
  sessionAt: Number.NEGATIVE_INFINITY,
  muteAt: Number.NEGATIVE_INFINITY,
  due: null,
  voiceAt: Number.NEGATIVE_INFINITY,
  muted: null,
};

/** An operator's text that the service was asked to speak. One at a time. */
export interface Saying {
  readonly id: string;
  /** Number of the text's stream. */
  readonly stream: number;
  readonly language: string;
  readonly sentAt: number;
  /** Total sound that the playout had dropped before this text (bytes). */
  readonly droppedBytes: number;
  readonly sound: SaidSound | null;
}

/** The sound of an operator's text so far. */
export interface SaidSound {
  /** The service's id of the sentence; null: it sends none. */
  readonly sentence: string | null;
  /** The key of its utterance in the playout; null: the playout has assigned one. */
  readonly utterance: string | null;
  readonly ms: number;
  readonly lastAt: number;
  /** The service has marked the end of the sound. */
  readonly isComplete: boolean;
}

/** Two people at one microphone: who speaks. */
export interface TwoWay {
  /** The service has refused to detect who speaks, so a key must say it. */
  readonly isRefused: boolean;
  /** Who speaks, according to the last key press. */
  readonly speaker: Speaker;
  /** Time of the last key press: sound that was captured later is that speaker's. */
  readonly turnedAt: number;
  /** Until when the microphone is open in the mode `hold`; infinite while the key is held. */
  readonly openUntil: number;
  /** The languages of the last sentences that the service has heard. */
  readonly heardIn: readonly { readonly id: string; readonly language: string }[];
}

export const NO_TURNS: TwoWay = {
  isRefused: false,
  speaker: 'source',
  turnedAt: Number.NEGATIVE_INFINITY,
  openUntil: Number.NEGATIVE_INFINITY,
  heardIn: [],
};

/** The sound of the other lane's loudspeaker in the room. */
export interface RoomSound {
  /** Recent, current and expected periods in which the loudspeaker is heard. */
  readonly heard: readonly Heard[];
  /** Sound given to that loudspeaker so far (ms). */
  readonly playedMs: number;
}

export interface LaneProblem {
  readonly code: string;
  readonly message: string;
  readonly at: number;
}

/** Why a device does not work; null: it works. */
export interface DeviceFaults {
  readonly capture: LaneProblem | null;
  readonly playback: LaneProblem | null;
  /** The plug of the headset; a headset that does not open is the lane's playback. */
  readonly headset: LaneProblem | null;
  /** The second device beside the loudspeaker. */
  readonly also: LaneProblem | null;
}

export const NO_DEVICE_FAULTS: DeviceFaults = { capture: null, playback: null, headset: null, also: null };
