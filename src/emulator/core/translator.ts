import type { Choices } from './choices.ts';
import type { InputSound } from './input-sound.ts';
import type { Bookmark } from './page-cursor.ts';
import { joinPhrases, phrasesSpoken, saidPhrases } from './phrase-book.ts';
import type { SegmentTimes } from './segment-times.ts';
import type { ConfirmedSegment } from './segmenter.ts';
import type { Sender } from './sender.ts';
import type { SpeechOutput } from './speech-output.ts';
import { type PlannedTarget, type TaskPlan, targetsOf } from './task-plan.ts';
import { type Transcript, transcriptMessage } from './transcript.ts';
import { PART_INTERVAL_MS, partsOf } from './translation-parts.ts';

const FRAMES_PER_S = 50;

/** A sentence that was heard to its end. */
export interface Sentence {
  readonly id: string;
  /** The spoken language. */
  readonly source: string;
  readonly segment: ConfirmedSegment;
  /** The sound in which the segment lies. */
  readonly input: InputSound;
}

export interface TranslatorSetup {
  readonly choices: Choices;
  readonly sender: Sender;
  readonly speech: SpeechOutput;
  readonly times: SegmentTimes;
  readonly bookmark: Bookmark;
  /** Milliseconds since 1970 as the service shows them. */
  readonly shownClockAt: (now: number) => number;
}

/** Sends a whole sentence's texts and orders its speech, in all target languages. */
export class Translator {
  private readonly setup: TranslatorSetup;

  constructor(setup: TranslatorSetup) {
    this.setup = setup;
  }

  translate(sentence: Sentence, plan: TaskPlan, now: number): void {
    const { bookmark, sender } = this.setup;
    const { id, source, segment, input } = sentence;
    if (plan.texts.has('validated_transcription')) {
      const phrases = this.phrasesIn(source, sentence);
      const transcript = { id, language: source, phrases, span: input.spanOf(segment.voice) };
      sender.send(this.message('validated_transcription', transcript), now);
    }
    const targets = targetsOf(plan, source);
    for (const target of targets) this.translateInto(target, targets.length, sentence, plan, now);
    this.sendFigures(id, plan, now);
    bookmark.next += phrasesSpoken(bookmark.next, source, segment.voicedMs, bookmark.book);
  }

  /** Translates into one of the sentence's languages, in the configured number of parts. */
  private translateInto(
    { language, voice }: PlannedTarget,
    languages: number,
    sentence: Sentence,
    plan: TaskPlan,
    now: number,
  ): void {
    const { choices, sender, speech } = this.setup;
    const { id, segment, input } = sentence;
    const whole = this.phrasesIn(language, sentence);
    const parts = partsOf(segment, whole, choices.translationParts, plan.inputHz / FRAMES_PER_S);
    const variant = plan.targets.findIndex((target) => target.language === language);
    for (const [part, stretch] of parts.entries()) {
      const { phrases } = stretch;
      if (plan.texts.has('translated_transcription')) {
        const transcript = { id, language, phrases, part, span: input.spanOf(stretch.voice) };
        const dueAt = now + choices.textDelayMs + part * PART_INTERVAL_MS;
        sender.sendAt(this.message('translated_transcription', transcript), dueAt);
      }
      if (choices.translate === 'echo' || !plan.speaks) continue;
      const order = {
        spoken: input.cut(stretch),
        spokenHz: plan.inputHz,
        text: joinPhrases(phrases, language),
        language,
        voice,
        variant,
        mode: choices.translate,
      };
      speech.order(order, id, languages, now, { part, of: parts.length });
    }
  }

  /** Sends figures about the pipeline, if the task requests them. */
  private sendFigures(id: string, plan: TaskPlan, now: number): void {
    const { choices, sender, speech, shownClockAt } = this.setup;
    const dueAt = now + choices.speechDelayMs;
    if (plan.texts.has('pipeline_timings')) {
      const data = { transcription_id: id, timings: timingsOf(plan, choices) };
      sender.sendAt({ type: 'pipeline_timings', data }, dueAt);
    }
    if (plan.texts.has('tts_buffer_stats'))
      sender.sendAt({ type: 'tts_buffer_stats', data: speech.stats(now, shownClockAt(now)) }, dueAt);
  }

  private phrasesIn(language: string, { source, segment }: Sentence): string[] {
    const { bookmark, choices } = this.setup;
    const wholeShare = choices.wholePhrasePercent / 100;
    const spoken = { language: source, voicedMs: segment.voicedMs, wholeShare };
    return saidPhrases(bookmark.next, spoken, language, bookmark.book);
  }

  private message(type: string, transcript: Transcript) {
    return transcriptMessage(type, transcript, this.setup.choices, this.setup.times);
  }
}

/** Duration of each step of the pipeline (s). */
function timingsOf(plan: TaskPlan, choices: Choices): Record<string, number> {
  const inS = (ms: number): number => Math.round(ms) / 1000;
  const parts = {
    partial_transcription: inS(choices.partialIntervalMs),
    validated_transcription: inS(plan.silenceThresholdMs),
    translated_transcription: inS(choices.textDelayMs),
    prepared_tts_task: 0,
    sent_tts_task: 0,
    tts: inS(Math.max(0, choices.speechDelayMs - choices.textDelayMs)),
    sent_to_nats: 0,
  };
  const { validated_transcription, translated_transcription, tts } = parts;
  return { ...parts, total: inS((validated_transcription + translated_transcription + tts) * 1000) };
}
