import type { Piece, Span } from './piece.ts';

/** A part of a translation. A translation without parts counts as one, without an id. */
export interface Part {
  readonly id: string | null;
  /** Length of the part's text, letters; 0: unknown. */
  readonly letters: number;
  /** Sound of the part received so far, milliseconds. */
  readonly ms: number;
  /** The stream's audio that the part translates; null: unknown. */
  readonly span: Span | null;
  /** The service has marked the end of the part. */
  readonly over: boolean;
}

/** A sentence in one language. */
export interface Spoken {
  /** Null: the service does not say which language. */
  readonly language: string | null;
  readonly parts: readonly Part[];
  /** When the translated text came; null: not yet. */
  readonly textAt: number | null;
  /** Arrival time of the newest sound; null: no sound yet. */
  readonly soundAt: number | null;
}

/** A sentence that the service has understood, but not finished speaking. */
export interface Sentence {
  readonly id: string;
  /** The stream's audio that the sentence covers; null: unknown. */
  readonly span: Span | null;
  readonly languages: readonly Spoken[];
}

/** Whether segment times can be used. */
export interface Times {
  /** End of the stream's audio that segments have covered so far. */
  readonly coveredMs: number;
  /** Number of segments with impossible times. */
  readonly refused: number;
}

/** Speech of a sentence that a service received and did not speak, in one language. */
export interface Unspoken {
  readonly language: string;
  readonly ms: number;
  /** Identifies the sentence. */
  readonly sentence: string;
}

/** Speech that was sent and that the service has not reacted to at all. Times are monotonic milliseconds. */
export interface Unanswered {
  readonly chunks: number;
  readonly from: number;
  readonly to: number;
}

/** A language that the service speaks. */
export interface Voice {
  /** Null: the service does not say which language. */
  readonly language: string | null;
  /** Time of the last sound in this language. */
  readonly soundAt: number;
}

/**
 * Replay log: speech that a stream received and has not spoken in full. If the stream breaks, the next stream receives it
 * again. The fifteen rules are in docs/lane.md.
 */
export interface ReplayLog {
  readonly targets: readonly string[];
  /** Each sentence is spoken in one of the targets only: two people speak to each other. */
  readonly either: boolean;
  /** How long sent speech is kept, milliseconds. */
  readonly keptMs: number;
  readonly pieces: readonly Piece[];
  readonly sentences: readonly Sentence[];
  /** Length of all audio that was sent. */
  readonly sentMs: number;
  /** Length of the pause at the present end of the sent audio. */
  readonly quietMs: number;
  readonly group: number;
  readonly times: Times;
  /** The service sends final transcripts. Otherwise only its translations show what it understood. */
  readonly transcribes: boolean;
  /** The service sends transcripts: sound of a sentence without a text claims nothing. */
  readonly writes: boolean;
  /** The sentence that partial transcripts are being sent for; null: none. */
  readonly partial: { readonly id: string | null; readonly at: number } | null;
  /** Stretches of speech during which partial transcripts came, newest last: the service took them for speech. */
  readonly heard: readonly number[];
  /** Ids that claimed speech, newest last. */
  readonly known: readonly string[];
  /** Finished sentences, with the languages in which they repeated an earlier stream. */
  readonly said: readonly { readonly id: string; readonly repeats: readonly string[] }[];
  /** Ids of replayed sentences: further sound with these ids is not played. */
  readonly withdrawn: readonly string[];
  /** Counts sentences without an id. */
  readonly nameless: number;
  /** When sound without an id came last; null: never. */
  readonly namelessAt: number | null;
  readonly voices: readonly Voice[];
  /** How often the service has marked the end of a sentence, in earlier sessions too. */
  readonly endsMarked: number;
  /** Measured pace of the service's voice. */
  readonly pace: { readonly sentences: number; readonly ms: number; readonly letters: number };
  /** Unspoken speech that the lane has not counted yet. */
  readonly unspoken: readonly Unspoken[];
  /** Speech forgotten since the service last reacted to anything; null: none. */
  readonly unanswered: Unanswered | null;
}
