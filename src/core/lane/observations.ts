import type { Earcon } from '../audio/earcon.ts';
import type { LossCause } from './loss-cause.ts';

/** Transcripts of what is said, without a translation of any. */
export interface Untranslated {
  /** When the first of them came. */
  readonly since: number;
  readonly evidence: number;
  /** The owner was told. */
  readonly isTold: boolean;
}

/** Texts or sound that could not be read, with none between them that could. */
export interface Unreadable {
  /** When the first of them came. */
  readonly since: number;
  /** When the last of them came. */
  readonly at: number;
}

/** Sentences of which nothing was heard in a language, with no sound of it between them. */
export interface UnspokenLanguage {
  readonly language: string;
  /** When the first of them was told. */
  readonly since: number;
  readonly sentences: number;
  /** There are enough of them, and for long enough, for the status to tell. */
  readonly isTold: boolean;
}

/** What was said and the service has spoken: it was a voice, whatever the lane's own detector makes of it. */
export interface SpokenVoice {
  /** When the end of the last of it was said. */
  readonly at: number;
  /** The same of the last sentence in which the lane's own detector found no voice that it was sure of. */
  readonly unsureAt: number;
}

export const NOTHING_SPOKEN: SpokenVoice = {
  at: Number.NEGATIVE_INFINITY,
  unsureAt: Number.NEGATIVE_INFINITY,
};

/** An outage in which the backlog has no room left and speech goes lost. All times monotonic milliseconds. */
export interface SpeechLoss {
  readonly lostMs: number;
  /** What made the outage, as far as it was known when the loss began. */
  readonly cause: LossCause;
  /** When the first of what is lost was said, and the end of the last. */
  readonly from: number;
  readonly to: number;
  /** When speech went lost last. */
  readonly lastAt: number;
  /** When the owner was told last, or the loss began. */
  readonly toldAt: number;
  /** The service had taken it, or would have but for a stop: nothing more of it goes lost later. */
  readonly wasSent: boolean;
}

/** What silent sessions took while nobody could tell whether it was speech. Times are monotonic milliseconds. */
export interface DoubtfulSpeech {
  readonly chunks: number;
  /** When the first of it was said, and the end of the last. */
  readonly from: number;
  readonly to: number;
}

/** Translated speech for which there was no loudspeaker, and which nobody was told of. Times are monotonic milliseconds. */
export interface Unheard {
  readonly ms: number;
  /** Of these, the ones that were given up whole, or of which the rest was. */
  readonly sentences: number;
  /** When the last of it was given up. */
  readonly lastAt: number;
  /** When the owner was told last, or it began. */
  readonly toldAt: number;
}

/** Translated speech that an end of the lane has taken from those who listened, and nobody was told of. */
export interface StoppedSpeech {
  readonly ms: number;
  readonly sentences: number;
}

/** What came of sentences that had been given up, and was not told so far. */
export interface LateSpeech {
  readonly why: 'lag' | 'barge_in';
  readonly ms: number;
  /** When the last of it came. */
  readonly lastAt: number;
}

/** What a listener has been told without words. */
export interface Chimes {
  /** The lane has been live since it was started. */
  readonly wasLive: boolean;
  /** `up`: a session hears, or will in the ordinary course of things; `away`: it is gone; `told`: and that was said. */
  readonly session: 'up' | 'away' | 'told';
  /** When a chime about the connection, or about the microphone, was given last. */
  readonly sessionAt: number;
  readonly muteAt: number;
  /** Good news that waits until nobody speaks, and since when. */
  readonly due: { readonly earcon: Earcon; readonly since: number } | null;
  /** When somebody was heard speaking last. */
  readonly voiceAt: number;
  /** Whether the microphone is muted as far as a listener knows; null: nobody listens. */
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

/** A text of the operator's that the service was asked to speak. One at a time. */
export interface Saying {
  readonly id: string;
  /** The stream on which it was asked for. */
  readonly stream: number;
  readonly language: string;
  readonly sentAt: number;
  /** Sound thrown away unheard before it, bytes. */
  readonly droppedBytes: number;
  readonly sound: SaidSound | null;
}

/** What has come of its sound. */
export interface SaidSound {
  /** The service's name for it; null: it gives none. */
  readonly sentence: string | null;
  /** The name under which the playout has it; null: one that the playout has made up. */
  readonly utterance: string | null;
  readonly ms: number;
  readonly lastAt: number;
  /** The service said that nothing more comes. */
  readonly isComplete: boolean;
}
