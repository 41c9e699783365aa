import type { VoiceDetector } from '../../ports/voice.ts';
import type { Choices } from './choices.ts';
import type { Effect } from './effect.ts';
import { InputSound } from './input-sound.ts';
import type { Bookmark } from './page-cursor.ts';
import { PartialTexts } from './partial-texts.ts';
import { monoOf } from './pcm.ts';
import { interimText, MS_PER_STEP } from './phrase-book.ts';
import type { SegmentTimes } from './segment-times.ts';
import type { ConfirmedSegment, SegmentEvent } from './segmenter.ts';
import type { Sender } from './sender.ts';
import { createSpeechOutput, type SpeechOutput } from './speech-output.ts';
import { createSpokenLanguage, type HeardVoice, type SpokenLanguage } from './spoken-language.ts';
import type { StreamReport } from './stream-report.ts';
import type { TaskPlan } from './task-plan.ts';
import { Translator } from './translator.ts';
import type { SplitRules } from './word-gaps.ts';

/** Turns sound into texts and speech, sentence by sentence. */
export interface Interpreter {
  /** Speech is still being synthesised or waits to be sent. */
  readonly busy: boolean;
  readonly speaking: boolean;
  /** @param isLost the sound came too fast: its time counts, but it is not transcribed */
  hear(pcm: Uint8Array, isLost: boolean, now: number): void;
  /** Ends the running sentence. */
  flush(now: number): void;
  /** Speaks a text of the client. */
  say(text: string, language: string, now: number): void;
  /** Receives the speech that a `render` effect requested. */
  rendered(jobId: number, pcm: Uint8Array, now: number): void;
  /** Drops the current speech and translations. @param languages only the speech in these */
  interrupt(languages: ReadonlySet<string> | null): void;
  setPlan(plan: TaskPlan): void;
  close(): void;
}

/** @param stream the stream whose sound the detector hears */
export type CreateDetector = (rateHz: number, stream: string) => VoiceDetector;

export interface InterpreterSetup {
  readonly choices: Choices;
  readonly report: StreamReport;
  readonly sender: Sender;
  readonly times: SegmentTimes;
  /** Milliseconds since 1970 as the service shows them. */
  readonly shownClockAt: (now: number) => number;
  readonly createDetector: CreateDetector;
  readonly nextJobId: () => number;
  readonly bookmark: Bookmark;
  readonly emit: (effect: Effect) => void;
}

export function createInterpreter(setup: InterpreterSetup, firstPlan: TaskPlan): Interpreter {
  return new SentenceInterpreter(setup, firstPlan);
}

/** Hears sentences and has them translated: `PartialTexts` while they are spoken, `Translator` when they are over. */
class SentenceInterpreter implements Interpreter {
  private readonly setup: InterpreterSetup;
  private readonly speech: SpeechOutput;
  private readonly spokenLanguage: SpokenLanguage;
  private readonly partials: PartialTexts;
  private readonly translator: Translator;
  private plan: TaskPlan;
  private input: InputSound;
  /** Number of sentences that have begun. */
  private sentences = 0;
  /** Number of client texts so far (`tts_task`). */
  private texts = 0;

  constructor(setup: InterpreterSetup, firstPlan: TaskPlan) {
    const { choices, report, sender, times, bookmark, shownClockAt, nextJobId, emit } = setup;
    const getPlan = () => this.plan;
    const speech = createSpeechOutput({ choices, report, sender, nextJobId, emit, getPlan });
    this.setup = setup;
    this.plan = firstPlan;
    this.speech = speech;
    this.spokenLanguage = createSpokenLanguage(() => ({
      languages: this.plan.heard,
      rateHz: this.plan.inputHz,
    }));
    this.partials = new PartialTexts({ choices, sender, times, bookmark });
    this.translator = new Translator({ choices, sender, speech, times, bookmark, shownClockAt });
    this.input = this.createInput();
  }

  get busy(): boolean {
    return this.speech.making > 0 || this.setup.sender.waiting > 0;
  }

  get speaking(): boolean {
    return this.input.segmenter.speaking;
  }

  hear(pcm: Uint8Array, isLost: boolean, now: number): void {
    const { choices, times, shownClockAt } = this.setup;
    const heard = monoOf(pcm, this.plan.inputChannels);
    const mono = isLost ? new Int16Array(heard.length) : heard;
    times.take(mono.length / this.plan.inputHz, shownClockAt(now));
    this.attend(this.input.hear(mono), now);
    if (choices.translate === 'echo') this.echo(pcm, now);
  }

  flush(now: number): void {
    for (const event of this.input.segmenter.flush()) this.obey(event, now);
  }

  say(text: string, language: string, now: number): void {
    const { plan } = this;
    const { choices, report } = this.setup;
    // The client's text is not speech: the running sentence keeps its id.
    this.texts++;
    if (!plan.speaks) return;
    const order = {
      spoken: new Int16Array(0),
      spokenHz: plan.outputHz,
      text,
      language,
      voice: plan.targets.find((target) => target.language === language)?.voice ?? 'high',
      variant: 0,
      mode: choices.translate === 'echo' ? 'transform' : choices.translate,
    };
    this.speech.order(order, `${report.id}-text-${this.texts}`, 1, now);
  }

  rendered(jobId: number, pcm: Uint8Array, now: number): void {
    this.speech.rendered(jobId, pcm, now);
  }

  interrupt(languages: ReadonlySet<string> | null): void {
    this.speech.interrupt(languages);
    if (languages !== null) return;
    this.input.segmenter.flush();
    this.setup.report.speaking = false;
  }

  setPlan(plan: TaskPlan): void {
    const { inputHz, inputChannels } = this.plan;
    const { segmenter } = this.input;
    this.plan = plan;
    segmenter.rules.silenceThresholdMs = plan.silenceThresholdMs;
    segmenter.rules.split = this.splitRules();
    if (plan.inputHz === inputHz && plan.inputChannels === inputChannels) return;
    segmenter.close();
    this.input = this.createInput();
    this.setup.report.speaking = false;
  }

  close(): void {
    this.input.segmenter.close();
    this.speech.close();
  }

  private createInput(): InputSound {
    const { plan } = this;
    const { choices, report, times, createDetector } = this.setup;
    return new InputSound(createDetector(plan.inputHz, report.id), plan.inputHz, times.heardS, {
      silenceThresholdMs: plan.silenceThresholdMs,
      minSpeechMs: choices.minSpeechMs,
      maxSegmentMs: choices.maxSegmentMs,
      split: this.splitRules(),
    });
  }

  private splitRules(): SplitRules | null {
    const { forceSplit } = this.plan;
    if (forceSplit === null) return null;
    return {
      afterMs: forceSplit.afterMs,
      minPartMs: forceSplit.minPartMs,
      wordMs: MS_PER_STEP,
      isDue: (lengthMs) => this.runningText(lengthMs).length >= forceSplit.chars,
    };
  }

  private attend(events: readonly SegmentEvent[], now: number): void {
    const { segmenter } = this.input;
    for (const event of events) this.obey(event, now);
    this.input.forget();
    if (segmenter.speaking) this.sendPartial(now);
  }

  private obey(event: SegmentEvent, now: number): void {
    const { report } = this.setup;
    if (event.kind === 'started') {
      this.sentences++;
      this.spokenLanguage.restart();
      this.partials.restart();
    } else if (event.kind === 'dropped') {
      report.segments_dropped++;
    } else {
      this.translate(event, now);
      report.segments++;
    }
    report.speaking = this.speaking;
  }

  private translate(segment: ConfirmedSegment, now: number): void {
    const { input, plan } = this;
    const voice = { voicedMs: segment.voicedMs, sound: () => input.cut(segment.voice) };
    const source = this.spokenLanguage.of(voice, true) ?? plan.source;
    this.translator.translate({ id: this.sentenceId, source, segment, input }, plan, now);
  }

  private sendPartial(now: number): void {
    if (!this.partials.isDue(now)) return;
    const source = this.runningLanguage();
    if (source === null) return;
    const { voicedMs, voice } = this.input.segmenter;
    const sentence = { id: this.sentenceId, source, voicedMs, span: this.input.spanOf(voice) };
    this.partials.send(sentence, this.plan, now);
  }

  private get sentenceId(): string {
    return `${this.setup.report.id}-${this.sentences}`;
  }

  /** The language of the running sentence; null while it is not known. */
  private runningLanguage(): string | null {
    const { segmenter } = this.input;
    const voice: HeardVoice = {
      voicedMs: segmenter.voicedMs,
      sound: () => this.input.cut(segmenter.voice),
    };
    return this.spokenLanguage.of(voice, false);
  }

  /** The running sentence's text after this much voice. */
  private runningText(voicedMs: number): string {
    const { bookmark } = this.setup;
    return interimText(bookmark.next, this.runningLanguage() ?? '', voicedMs, bookmark.book);
  }

  /** Sends the client's sound back. */
  private echo(pcm: Uint8Array, now: number): void {
    const { plan } = this;
    const { choices, report, sender } = this.setup;
    const comesBack = choices.echoSilence || pcm.some((byte) => byte !== 0);
    if (!plan.speaks || !comesBack) return;
    const data = echoIds(choices, plan, report.id);
    sender.send({ type: 'output_audio_data', data, pcm, packed: plan.packed }, now);
  }
}

function echoIds(choices: Choices, plan: TaskPlan, id: string): Record<string, unknown> {
  if (!choices.transcriptIds) return {};
  return {
    transcription_id: `${id}-echo`,
    translation_part_id: '0',
    language: plan.targets[0]?.language ?? plan.source,
    last_chunk: false,
    chunk_generation_delta: 0,
  };
}
