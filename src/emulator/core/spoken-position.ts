import type { SpokenPart } from './outbox.ts';

/** The sentence that was spoken last, and in how many languages it has been spoken completely. */
export class SpokenPosition {
  private last: SpokenPart | null = null;
  private finished = 0;

  note(part: SpokenPart): void {
    if (this.last?.sentence !== part.sentence) this.finished = 0;
    if (part.isLast) this.finished++;
    this.last = part;
  }

  /** The sentence has been spoken completely in one language, and has not begun in another. */
  get isBetweenLanguages(): boolean {
    return this.last?.isLast === true && this.finished < this.last.languages;
  }

  /** Whether this part belongs to the last spoken sentence and its language. */
  isAt({ sentence, language }: SpokenPart): boolean {
    return this.last?.sentence === sentence && this.last.language === language;
  }
}
