import type { SpeechCount } from './speech-count.ts';

/** What a service has left out, as it is told. */
export interface LeftOut {
  /** The service's name for the sentence; null: it gives none. */
  readonly id: string | null;
  readonly speech: SpeechCount;
  /** Of the last interim text; 0: none came, and the lane has judged by itself that it was speech. */
  readonly letters: number;
  /** When its last interim text came; where none did, when the last of it was sent. */
  readonly at: number;
}

/**
 * Speech of which no text at all has come, before a sentence of which the service has told the times. Positions are milliseconds of
 * the stream's audio.
 */
export interface PassedOver {
  readonly fromMs: number;
  readonly toMs: number;
  /** When the last of it was sent. */
  readonly at: number;
  readonly speech: SpeechCount;
  /** Which share of it later texts have covered. */
  readonly coveredShare: number;
}
