import type { Choices } from './choices.ts';
import type { Bookmark } from './page-cursor.ts';
import { interimText } from './phrase-book.ts';
import type { SegmentTimes, Span } from './segment-times.ts';
import type { Sender } from './sender.ts';
import { type TaskPlan, targetsOf } from './task-plan.ts';
import { type Transcript, transcriptMessage } from './transcript.ts';

/** The unfinished sentence, as far as it was heard. */
export interface PartialSentence {
  readonly id: string;
  /** The spoken language. */
  readonly source: string;
  readonly voicedMs: number;
  readonly span: Span;
}

export interface PartialTextsSetup {
  readonly choices: Choices;
  readonly sender: Sender;
  readonly times: SegmentTimes;
  readonly bookmark: Bookmark;
}

/** Sends the texts of the running sentence: at most one per interval, and only when they have changed. */
export class PartialTexts {
  private readonly setup: PartialTextsSetup;
  private lastText = '';
  private lastAt = Number.NEGATIVE_INFINITY;

  constructor(setup: PartialTextsSetup) {
    this.setup = setup;
  }

  /** Call it when another sentence begins. */
  restart(): void {
    this.lastText = '';
  }

  isDue(now: number): boolean {
    return now - this.lastAt >= this.setup.choices.partialIntervalMs;
  }

  send(sentence: PartialSentence, plan: TaskPlan, now: number): void {
    const { source } = sentence;
    const text = this.textIn(source, sentence);
    if (text === '' || text === this.lastText) return;
    this.lastText = text;
    this.lastAt = now;
    const { id, span } = sentence;
    if (plan.texts.has('partial_transcription'))
      this.sendText('partial_transcription', { id, language: source, phrases: [text], span }, now);
    if (!plan.texts.has('partial_translated_transcription')) return;
    for (const { language } of targetsOf(plan, source)) {
      const phrases = [this.textIn(language, sentence)];
      this.sendText('partial_translated_transcription', { id, language, phrases, part: 0, span }, now);
    }
  }

  private textIn(language: string, { voicedMs }: PartialSentence): string {
    const { bookmark } = this.setup;
    return interimText(bookmark.next, language, voicedMs, bookmark.book);
  }

  private sendText(type: string, transcript: Transcript, now: number): void {
    const { choices, times, sender } = this.setup;
    sender.send(transcriptMessage(type, transcript, choices, times), now);
  }
}
