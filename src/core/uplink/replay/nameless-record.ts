import type { Piece } from './piece.ts';

/** What the service speaks without naming it: sound without a longer pause, of what it had understood when it began. */
export interface Run {
  readonly pieces: readonly Piece[];
  /** Of the texts that are spoken; 0: not known. */
  readonly letters: number;
  readonly ms: number;
  readonly beganAt: number;
  readonly soundAt: number;
  /** The texts are of this run and of no other. */
  readonly isCertain: boolean;
  /** How many translations of a sentence are in it: several where sound does not tell its language. */
  readonly translations: number;
}

/** A translation that is not spoken so far. */
export interface Awaited {
  /** Of its text; 0: the service writes none down. */
  readonly letters: number;
  /** What was said, where no text tells it. */
  readonly pieces: readonly Piece[];
  readonly at: number;
  /** Sound went on when it had come: it may have been spoken with that. */
  readonly isDoubtful: boolean;
  /** The service has spoken it in another language, so that it is not owed any more. */
  readonly isSpokenElsewhere: boolean;
}

/** A translation that was awaited for long when another one began to be spoken. */
export interface PassedBy {
  readonly awaited: Awaited;
  /** What came since, and what others promise of it. */
  readonly heardMs: number;
  readonly promisedMs: number;
}

/** Sound without names in one language, or in all where it does not tell which. */
export interface Nameless {
  /** One of the stream's targets, or all of them as in `jointOf`. */
  readonly language: string;
  readonly run: Run | null;
  readonly awaited: readonly Awaited[];
  readonly passedBy: readonly PassedBy[];
  /** Runs that another one followed before it was clear that nothing more of them comes. */
  readonly crowded: readonly Run[];
  /**
   * How many sentences in a row had their text before their sound, up to `IN_ORDER`. A service that has spoken something before
   * its text came is ahead: a text then belongs to the sound before it, not to the next.
   */
  readonly inOrder: number;
  /** Texts of translations into it have come. */
  readonly isWritten: boolean;
}

/** This many sentences after it was ahead, or seemed to be, a service is taken for one that tells the text first. */
export const IN_ORDER = 3;

/** In place of a language where sound does not tell which of several it is. */
export const jointOf = (targets: readonly string[]): string => targets.join(',');
