import type { PassedOver } from './left-out.ts';
import type { Nameless } from './nameless-record.ts';
import type { Piece, Span } from './piece.ts';
import type { SpeechCount } from './speech-count.ts';

/** A language in which a stream has spoken. */
export interface Voice {
  /** Empty where the service tells none. */
  readonly language: string;
  /** When it was heard last. */
  readonly soundAt: number;
  /** When the text came of the sentence that it has spoken whose text came last. */
  readonly textAt: number;
}

/**
 * What a stream has been sent and has not yet spoken in full: where the stream breaks off, this goes to the next one. It
 * is accounted per sentence and language, by the times that the service gives for its transcripts, or else by one rule
 * (without-times.ts). It leans towards forgetting, because a sentence that is said twice is worse than a short
 * one that is missed.
 */
export interface ReplayLog {
  /** Languages into which this stream translates. */
  readonly targets: readonly string[];
  /** What was sent and is not settled, oldest first; of a pause no more than its first moments. */
  readonly pieces: readonly Piece[];
  /** What the service has told of the sentences that are not settled, oldest first. */
  readonly sentences: readonly Sentence[];
  /** Length of everything that was sent on this stream, silence included. */
  readonly sentMs: number;
  /** Where in the audio that was sent there is speech, settled or not, oldest first. */
  readonly voiced: readonly Span[];
  /** Before this it is not known any more where there was. */
  readonly forgottenMs: number;
  /** Speech that was forgotten since the service last showed that it understands anything. */
  readonly unheard: SpeechCount;
  /** Sentences that the service has understood, and of which no sound came until they were forgotten: to be told. */
  readonly untranslated: readonly Untranslated[];
  /** What was sent before `ms` was to be said in these languages. */
  readonly before: { readonly ms: number; readonly targets: readonly string[] };
  /** Length of the pause at the end of what was sent. */
  readonly quietMs: number;
  /** Number of the last stretch of speech between two pauses. */
  readonly group: number;
  readonly times: StreamTimes;
  /** The service says what it has understood; one that never does is judged by what it says. */
  readonly isTold: boolean;
  /** Sentences of which no more than interim texts have come, the one with the latest text at the end. */
  readonly interims: readonly Interim[];
  /** Of sentences that were among them, each as it was when it left, the latest at the end: their whole texts may still come. */
  readonly pastInterims: readonly Interim[];
  /** What no text at all has come of, though the service has gone on behind it; oldest first. */
  readonly passedOver: readonly PassedOver[];
  /** The service's names for what it has understood last. */
  readonly known: readonly string[];
  /** Those that have been said to their end last, in every language. */
  readonly said: readonly SaidSentence[];
  /** Sentences that are said once more, because their translation was cut off: nothing more of them is heard. */
  readonly withdrawn: readonly string[];
  /** Languages that it has spoken, with names; not those in which a sentence is missing since, and is said once more. */
  readonly voices: readonly Voice[];
  /** What it speaks without a name, in each language of which anything came. */
  readonly nameless: readonly Nameless[];
  /** That sound against the texts that it may speak. */
  readonly balance: Balance;
  /** How many sentences without a name it has understood. */
  readonly namelessCount: number;
  /** When the last sound without a name came. */
  readonly soundAt: number | null;
  /** Sound without a name came of a sentence that the service had not yet said to have understood. */
  readonly isAhead: boolean;
  /** That sentence had ended here when its sound began: what lies before is said, though its text may never come. */
  readonly aheadMs: number;
  /** How often the service has said where a sentence ends, in this session and those before. */
  readonly endsMarked: number;
  /** The last sentence of which something came twice; null: none. */
  readonly twins: string | null;
  /** How long this session's speech lasts, of sentences that came to their end. */
  readonly pace: { readonly sentences: number; readonly ms: number; readonly letters: number };
}

/** A sentence of which no sound came in a language. */
export interface Untranslated {
  readonly language: string;
  /** Length of what was said. */
  readonly ms: number;
}

/** A sentence of which no more than interim texts have come. Positions are milliseconds of the stream's audio. */
export interface Interim {
  readonly id: string | null;
  /** Of the last of its texts. */
  readonly letters: number;
  /** Where the service tells that it lies; null: it does not. */
  readonly told: Span | null;
  /** Where it began to be written down, as far as is known without times, and what had been sent at its last text. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The stretch of speech that was sent then. */
  readonly group: number;
  /** When its first text came, and its last. */
  readonly since: number;
  readonly at: number;
  /** Its speech, as far as that has been counted. */
  readonly speech: SpeechCount;
  readonly countedMs: number;
  /** Which share of it whole sentences have covered. */
  readonly coveredShare: number;
}

/** In place of the name of a sentence that has been said to its end. */
export const SETTLED = '';

/** Whether a name is one of ours, for a sentence to which the service gives none. */
export const isNameless = (id: string | null): boolean => id?.startsWith('#') === true;

/** What is known of the times that the service gives in its transcripts (`segments`). */
export interface StreamTimes {
  /**
   * Where its zero may lie in the stream's audio: at the first sample that the task took. After a `set_task` it may be
   * counted on or again; more than one is not decided yet.
   */
  readonly zeros: readonly number[];
  /** Everything before has been understood or left out. */
  readonly settledMs: number;
  /** Why its times are not used any more; null: they are. */
  readonly refused: string | null;
}

export const FIRST_TIMES: StreamTimes = { zeros: [0], settledMs: 0, refused: null };

/** What the service has told of one sentence. */
export interface Sentence {
  /** The service's name for it, or one of ours where it gives none. */
  readonly id: string;
  readonly languages: readonly Spoken[];
  /** Its times as the service has told them, in the stream's audio; null: it has not. */
  readonly span: Span | null;
  /** Length of its text in the language that is spoken; null: not known. */
  readonly letters: number | null;
}

/** A sentence of which nothing more is owed. */
export interface SaidSentence {
  readonly id: string;
  /** It was said before any text of it came. */
  readonly isUntold: boolean;
  /** The parts of its translations that are over, named as in `partKey`. */
  readonly parts: readonly string[];
  /** Its times as the service has told them so far, in the stream's audio; null: it has not. */
  readonly span: Span | null;
  /** Languages in which it had been said before, on a stream that broke off. */
  readonly repeats: readonly string[];
}

/** A sentence may be translated and spoken in several parts; each has an end of its own. */
export interface Part {
  /** As the service numbers it; null: it does not. */
  readonly id: string | null;
  readonly letters: number;
  readonly ms: number;
  /** What it translates, in the stream's audio; null: not told. */
  readonly span: Span | null;
  /** Over: the service said that nothing more of it comes. Settled: so is what it translates, others have not been spoken. */
  readonly state: 'open' | 'over' | 'settled';
}

/** A sentence in one language. */
export interface Spoken {
  /** One of the stream's targets; null: in whichever. */
  readonly language: string | null;
  /** Those of which a text or sound came. */
  readonly parts: readonly Part[];
  /** Length of its text, without the parts that are settled; 0: not known. */
  readonly letters: number;
  /** When its text came last; null: none has. */
  readonly textAt: number | null;
  /** Sound that has come, likewise. */
  readonly ms: number;
  /** When the last of it came; null: none has. */
  readonly soundAt: number | null;
  /** Every part that is known is over, or it has been judged that nothing more will come. */
  readonly complete: boolean;
}

/**
 * Sound without names against the texts that it may speak. Where texts come late, the sound of the next sentence follows that
 * of the one before without a pause: sound that no text has promised belongs to a text that is still to come.
 */
export interface Balance {
  /** Length of the last sound without a longer pause in it. */
  readonly heardMs: number;
  /** What the texts promise that had come before it ended. */
  readonly promisedMs: number;
  /** What the texts promise that came since. */
  readonly awaitedMs: number;
  /** When the last of them came. */
  readonly textAt: number;
}

export const EVEN: Balance = {
  heardMs: 0,
  promisedMs: 0,
  awaitedMs: 0,
  textAt: Number.NEGATIVE_INFINITY,
};

/** The interim texts of a sentence, over or not: its whole text may come behind its sound, or once for each language. */
export function interimOf({ interims, pastInterims }: ReplayLog, id: string | null): Interim | undefined {
  const past = id === null ? undefined : pastInterims.findLast((one) => one.id === id);
  return interims.find((one) => one.id === id) ?? past;
}

/** Whether it may be of the next sentence of one breath, of which interim texts have come, and nothing else so far. */
export function isOfWritten(log: ReplayLog, piece: Piece): boolean {
  const { seam, group } = piece;
  if (seam?.next !== null) return false;
  const own = interimOf(log, seam.of);
  const isNext = ({ id, since }: Interim): boolean =>
    id !== null && id !== seam.of && (own === undefined || since > own.since);
  return log.interims.some((one) => one.group === group && isNext(one));
}
