import type { VoiceChoice } from './another-voice.ts';
import type { Choices } from './choices.ts';
import type { Effect } from './effect.ts';
import type { OutMessage } from './outbox.ts';
import type { Bookmark } from './page-cursor.ts';
import { monoOf } from './pcm.ts';
import { interimText, joinPhrases, MS_PER_STEP, phrasesSpoken, saidPhrases } from './phrase-book.ts';
import type { SegmentTimes, Span } from './segment-times.ts';
import {
  createSegmenter,
  type SegmentDetector,
  type SegmentEvent,
  type Segmenter,
  type Stretch,
} from './segmenter.ts';
import type { Sender } from './sender.ts';
import { createSoundBuffer, type SoundBuffer } from './sound-buffer.ts';
import { createSpeechOutput, type SpeechOutput } from './speech-output.ts';
import { createSpokenLanguage } from './spoken-language.ts';
import type { StreamReport } from './stream-report.ts';
import type { PlannedTarget, TaskPlan } from './task-plan.ts';
import { PART_INTERVAL_MS, partsOf } from './translation-parts.ts';
import type { SplitRules } from './word-gaps.ts';

/** Turns sound into texts and speech, sentence by sentence. */
export interface Interpreter {
  /** Speech is still being synthesised or waits to be sent. */
  readonly busy: boolean;
  readonly speaking: boolean;
  /** @param isLost the sound came too fast: its time counts, but it is not transcribed */
  hear(pcm: Uint8Array, isLost: boolean, now: number): void;
  /** A detector in another thread has decided. */
  decided(now: number): void;
  /** Ends the running sentence as soon as the detector has heard all its sound. */
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

const FRAMES_PER_S = 50;

interface Text {
  readonly language: string;
  readonly text: string;
  /** Phrases of the text. */
  readonly phrases: readonly string[];
  readonly part?: number;
}

/** @param stream the stream whose sound the detector hears */
export type CreateDetector = (rateHz: number, stream: string) => SegmentDetector;

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
  const { choices, report, sender, times, bookmark } = setup;
  let plan = firstPlan;
  let sound: SoundBuffer;
  let segmenter: Segmenter;
  let sentence = 0;
  let texts = 0;
  let lastPartialAt = Number.NEGATIVE_INFINITY;
  let lastPartial = '';
  /** Start of this format in the stream's audio (s). */
  let formatFromS = 0;
  const speech = createSpeechOutput({ ...setup, getPlan: () => plan });
  const spokenLanguage = createSpokenLanguage(() => ({ languages: plan.heard, rateHz: plan.inputHz }));
  /** The running sentence ends when the detector has caught up. */
  let isFlushing = false;

  /** The language of the running sentence; null while it is not known. */
  const languageNow = (isWhole = false): string | null =>
    spokenLanguage.of(
      {
        voicedMs: segmenter.voicedMs,
        sound: () => sound.cut(segmenter.voice.from, segmenter.voice.to),
      },
      isWhole,
    );
  const targetsOf = (source: string): readonly PlannedTarget[] =>
    plan.targets.filter(({ language, sources }) => {
      const isAllowed = sources.length === 0 || sources.some((one) => isSameLanguage(one, source));
      return isAllowed && !(plan.source === 'auto' && isSameLanguage(language, source));
    });

  const splitOf = ({ forceSplit }: TaskPlan): SplitRules | null =>
    forceSplit && {
      ...forceSplit,
      wordMs: MS_PER_STEP,
      isDue: (lengthMs) =>
        interimText(bookmark.next, languageNow() ?? '', lengthMs, bookmark.book).length >= forceSplit.chars,
    };

  const listenAnew = (): void => {
    formatFromS = times.heardS;
    sound = createSoundBuffer();
    segmenter = createSegmenter(setup.createDetector(plan.inputHz, report.id), plan.inputHz, {
      silenceThresholdMs: plan.silenceThresholdMs,
      minSpeechMs: choices.minSpeechMs,
      maxSegmentMs: choices.maxSegmentMs,
      split: splitOf(plan),
    });
  };

  const spanOf = ({ from, to }: Stretch): Span => ({
    start: formatFromS + from / plan.inputHz,
    end: formatFromS + to / plan.inputHz,
  });
  const sentenceId = (): string => `${report.id}-${sentence}`;

  const transcript = (type: string, id: string, said: Text, span: Span): OutMessage => {
    const { language, text, part } = said;
    const ids = choices.transcriptIds
      ? { transcription_id: id, ...(part === undefined ? {} : { translation_part_id: part }) }
      : {};
    const segments = times.describe(said.phrases, span);
    return { type, data: { transcription: { ...ids, ...segments, language, text } } };
  };

  const sendPartial = (now: number): void => {
    if (now - lastPartialAt < choices.partialIntervalMs) return;
    const source = languageNow();
    if (source === null) return;
    const voicedMs = segmenter.voicedMs;
    const text = interimText(bookmark.next, source, voicedMs, bookmark.book);
    if (text === '' || text === lastPartial) return;
    lastPartialAt = now;
    lastPartial = text;
    const id = sentenceId();
    const span = spanOf(segmenter.voice);
    if (plan.texts.has('partial_transcription')) {
      const said = { language: source, text, phrases: [text] };
      sender.send(transcript('partial_transcription', id, said, span), now);
    }
    if (!plan.texts.has('partial_translated_transcription')) return;
    for (const { language } of targetsOf(source)) {
      const translated = interimText(bookmark.next, language, voicedMs, bookmark.book);
      const said = { language, text: translated, phrases: [translated], part: 0 };
      sender.send(transcript('partial_translated_transcription', id, said, span), now);
    }
  };

  const confirm = (event: Confirmed, now: number): void => {
    const id = sentenceId();
    const span = spanOf(event.voice);
    const heard = { voicedMs: event.voicedMs, sound: () => sound.cut(event.voice.from, event.voice.to) };
    const source = spokenLanguage.of(heard, true) ?? plan.source;
    const amount = phrasesSpoken(bookmark.next, source, event.voicedMs, bookmark.book);
    const wholeShare = choices.wholePhrasePercent / 100;
    const spokenWords = { language: source, voicedMs: event.voicedMs, wholeShare };
    const textIn = (language: string) => {
      const said = saidPhrases(bookmark.next, spokenWords, language, bookmark.book);
      return { language, text: joinPhrases(said, language), phrases: said };
    };
    if (plan.texts.has('validated_transcription')) {
      sender.send(transcript('validated_transcription', id, textIn(source), span), now);
    }
    const targets = targetsOf(source);
    const means = { choices, plan, sender, speech, sound, transcript, spanOf };
    for (const target of targets)
      translate(means, { id, event, languages: targets.length }, target, textIn(target.language), now);
    sendFigures(id, now);
    bookmark.next += amount;
    report.segments++;
  };

  /** Sends figures about the pipeline, if the task requests them. */
  const sendFigures = (id: string, now: number): void => {
    const at = now + choices.speechDelayMs;
    if (plan.texts.has('pipeline_timings')) {
      const data = { transcription_id: id, timings: timingsOf(plan, choices) };
      sender.sendAt({ type: 'pipeline_timings', data }, at);
    }
    if (plan.texts.has('tts_buffer_stats')) {
      sender.sendAt({ type: 'tts_buffer_stats', data: speech.stats(now, setup.shownClockAt(now)) }, at);
    }
  };

  const obey = (event: SegmentEvent, now: number): void => {
    if (event.kind === 'started') {
      sentence++;
      spokenLanguage.restart();
      lastPartial = '';
    } else if (event.kind === 'dropped') {
      report.segments_dropped++;
    } else {
      confirm(event, now);
    }
    report.speaking = segmenter.speaking;
  };

  const flush = (now: number): void => {
    for (const event of segmenter.flush()) obey(event, now);
  };

  const attend = (events: readonly SegmentEvent[], now: number): void => {
    for (const event of events) obey(event, now);
    sound.forget(segmenter.neededFrom);
    if (segmenter.speaking) sendPartial(now);
    if (!isFlushing || segmenter.isBehind) return;
    isFlushing = false;
    flush(now);
  };

  listenAnew();
  return {
    get busy() {
      return speech.making > 0 || sender.waiting > 0 || segmenter.isBehind;
    },
    get speaking() {
      return segmenter.speaking;
    },
    hear(pcm, isLost, now) {
      const heard = monoOf(pcm, plan.inputChannels);
      const mono = isLost ? new Int16Array(heard.length) : heard;
      times.take(mono.length / plan.inputHz, setup.shownClockAt(now));
      sound.append(mono);
      attend(segmenter.hear(mono), now);
      const comesBack = choices.echoSilence || pcm.some((byte) => byte !== 0);
      if (choices.translate === 'echo' && plan.speaks && comesBack) {
        const data = echoIds(choices, plan, report.id);
        sender.send({ type: 'output_audio_data', data, pcm, packed: plan.packed }, now);
      }
    },
    decided(now) {
      attend(segmenter.take(), now);
    },
    flush(now) {
      if (segmenter.isBehind) isFlushing = true;
      else flush(now);
    },
    say(text, language, now) {
      // The client's text is not speech: the running sentence keeps its id.
      texts++;
      const voice: VoiceChoice = plan.targets.find((target) => target.language === language)?.voice ?? 'high';
      const order = { spoken: new Int16Array(0), spokenHz: plan.outputHz, text, language, voice, variant: 0 };
      const mode = choices.translate === 'echo' ? 'transform' : choices.translate;
      if (plan.speaks) speech.order({ ...order, mode }, `${report.id}-text-${texts}`, 1, now);
    },
    rendered: speech.rendered,
    interrupt(languages) {
      speech.interrupt(languages);
      if (languages !== null) return;
      segmenter.flush();
      report.speaking = false;
    },
    setPlan(next) {
      const sameSound = next.inputHz === plan.inputHz && next.inputChannels === plan.inputChannels;
      plan = next;
      segmenter.rules.silenceThresholdMs = next.silenceThresholdMs;
      segmenter.rules.split = splitOf(next);
      if (sameSound) return;
      segmenter.close();
      listenAnew();
    },
    close() {
      segmenter.close();
      speech.close();
    },
  };
}

type Confirmed = SegmentEvent & { kind: 'confirmed' };

/** Common input of translations. */
interface Means extends Pick<InterpreterSetup, 'choices' | 'sender'> {
  readonly plan: TaskPlan;
  readonly speech: SpeechOutput;
  readonly sound: SoundBuffer;
  readonly transcript: (type: string, id: string, said: Text, span: Span) => OutMessage;
  readonly spanOf: (stretch: Stretch) => Span;
}

/** Orders a sentence's translation into one language, in the configured number of parts. */
function translate(
  { choices, plan, sender, speech, sound, transcript, spanOf }: Means,
  { id, event, languages }: { readonly id: string; readonly event: Confirmed; readonly languages: number },
  { language, voice }: PlannedTarget,
  whole: Text,
  now: number,
): void {
  const textAt = now + choices.textDelayMs;
  const variant = plan.targets.findIndex((target) => target.language === language);
  const parts = partsOf(event, whole.phrases, choices.translationParts, plan.inputHz / FRAMES_PER_S);
  for (const [part, { phrases, from, to, voice: voiced }] of parts.entries()) {
    const said = { language, text: joinPhrases(phrases, language), phrases, part };
    if (plan.texts.has('translated_transcription')) {
      const message = transcript('translated_transcription', id, said, spanOf(voiced));
      sender.sendAt(message, textAt + part * PART_INTERVAL_MS);
    }
    if (choices.translate === 'echo' || !plan.speaks) continue;
    const { text } = said;
    const order = { spoken: sound.cut(from, to), spokenHz: plan.inputHz, text, language, voice, variant };
    speech.order({ ...order, mode: choices.translate }, id, languages, now, { part, of: parts.length });
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

const isSameLanguage = (one: string, other: string): boolean =>
  one.toLowerCase().split('-')[0] === other.toLowerCase().split('-')[0];

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
