import type { Earcon } from '../audio/earcon.ts';

/** Texts or sound that could not be read, with none between them that could. */
export interface Unreadable {
  /** When the first of them came. */
  readonly since: number;
  /** When the last of them came. */
  readonly at: number;
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
