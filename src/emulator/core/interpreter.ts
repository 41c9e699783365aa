import { samplesOf } from '../../core/audio/pcm.ts';
import type { VoiceChoice } from './another-voice.ts';
import type { Choices } from './choices.ts';
import type { Effect } from './effect.ts';
import type { OutMessage } from './outbox.ts';
import type { Bookmark } from './page-cursor.ts';
import { downmix } from './pcm.ts';
import { interimText, joinPhrases, MS_PER_STEP, phrasesSpoken, saidPhrases } from './phrase-book.ts';
import type { RenderJob } from './render.ts';
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
import { noteLateness, type StreamReport } from './stream-report.ts';
import type { TaskPlan } from './task-plan.ts';
import type { SplitRules } from './word-gaps.ts';

/** Renderings under way at once on one stream; more are not spoken. */
const MOST_RENDERINGS = 64;

/** Turns sound into texts and speech, sentence by sentence. */
export interface Interpreter {
  /** Speech is still being made or waits to be sent. */
  readonly busy: boolean;
  readonly speaking: boolean;
  /** @param isLost it came too fast: its time passes, but nobody listens */
  hear(pcm: Uint8Array, isLost: boolean, now: number): void;
  /** A detector that decides later has decided. */
  decided(now: number): void;
  /** Takes what is being said as said, as soon as it has been heard. */
  finish(now: number): void;
  /** Speaks a text that nobody said. */
  say(text: string, language: string, now: number): void;
  /** Speech that was asked for by a `render` effect. */
  rendered(jobId: number, pcm: Uint8Array, now: number): void;
  /** Drops the sentence that is being spoken or translated. */
  interrupt(): void;
  setPlan(plan: TaskPlan): void;
  close(): void;
}

interface Rendering {
  readonly id: string;
  readonly language: string;
  /** Languages in which the sentence is spoken. */
  readonly languages: number;
  readonly dueAt: number;
  readonly channels: number;
  readonly outputHz: number;
  readonly packed: boolean;
}

interface Text {
  readonly language: string;
  readonly text: string;
  /** Of which the text consists. */
  readonly phrases: readonly string[];
  readonly part?: number;
}

/** @param stream whose sound the detector will hear */
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
  const { choices, report, sender, times, emit, bookmark } = setup;
  let plan = firstPlan;
  let sound: SoundBuffer;
  let segmenter: Segmenter;
  let sentence = 0;
  let lastPartialAt = Number.NEGATIVE_INFINITY;
  let lastPartial = '';
  let speechFreeAt = 0;
  /** Where the sound of this format begins in the stream's audio, seconds. */
  let formatFromS = 0;
  const renderings = new Map<number, Rendering>();
  /** What is being said is to be taken as said when the detector has caught up. */
  let isFinishing = false;

  const splitOf = ({ forceSplit, source }: TaskPlan): SplitRules | null =>
    forceSplit && {
      ...forceSplit,
      wordMs: MS_PER_STEP,
      isDue: (lengthMs) => interimText(bookmark.next, source, lengthMs).length >= forceSplit.chars,
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

  const transcript = (type: string, id: string, said: Text, span: Span, now: number): OutMessage => {
    const { language, text, part } = said;
    const ids = choices.transcriptIds
      ? { transcription_id: id, ...(part === undefined ? {} : { translation_part_id: part }) }
      : {};
    const segments = times.describe(id, said.phrases, span, now);
    return { type, data: { transcription: { ...ids, ...segments, language, text } } };
  };

  const sendPartial = (now: number): void => {
    if (now - lastPartialAt < choices.partialIntervalMs) return;
    const voicedMs = segmenter.voicedMs;
    const text = interimText(bookmark.next, plan.source, voicedMs);
    if (text === '' || text === lastPartial) return;
    lastPartialAt = now;
    lastPartial = text;
    const id = sentenceId();
    const span = spanOf(segmenter.voice);
    if (plan.texts.has('partial_transcription')) {
      const said = { language: plan.source, text, phrases: [text] };
      sender.send(transcript('partial_transcription', id, said, span, now), now);
    }
    if (!plan.texts.has('partial_translated_transcription')) return;
    for (const { language } of plan.targets) {
      const translated = interimText(bookmark.next, language, voicedMs);
      const said = { language, text: translated, phrases: [translated], part: 0 };
      sender.send(transcript('partial_translated_transcription', id, said, span, now), now);
    }
  };

  const startRendering = (
    job: Omit<RenderJob, 'id' | 'stream'>,
    id: string,
    languages: number,
    now: number,
  ): void => {
    if (renderings.size >= MOST_RENDERINGS || sender.isMute(now)) return;
    const dueAt = now + choices.speechDelayMs;
    const jobId = setup.nextJobId();
    const { language, outputHz, outputChannels: channels } = job;
    renderings.set(jobId, { id, language, languages, dueAt, channels, outputHz, packed: plan.packed });
    emit({ kind: 'render', job: { ...job, id: jobId, stream: report.id } });
  };

  const confirm = (event: SegmentEvent & { kind: 'confirmed' }, now: number): void => {
    const id = sentenceId();
    const span = spanOf(event.voice);
    const amount = phrasesSpoken(bookmark.next, plan.source, event.voicedMs);
    const spokenWords = { language: plan.source, voicedMs: event.voicedMs };
    const textIn = (language: string) => {
      const said = saidPhrases(bookmark.next, spokenWords, language);
      return { language, text: joinPhrases(said, language), phrases: said };
    };
    if (plan.texts.has('validated_transcription')) {
      sender.send(transcript('validated_transcription', id, textIn(plan.source), span, now), now);
    }
    const textAt = now + choices.textDelayMs;
    const spoken = sound.cut(event.from, event.to);
    for (const [variant, { language, voice }] of plan.targets.entries()) {
      const said = { ...textIn(language), part: 0 };
      const { text } = said;
      if (plan.texts.has('translated_transcription')) {
        sender.sendAt(transcript('translated_transcription', id, said, span, now), textAt);
      }
      if (choices.translate !== 'echo') {
        const job = { spoken, spokenHz: plan.inputHz, text, language, voice, variant };
        startRendering({ ...job, mode: choices.translate, ...outputOf(plan) }, id, plan.targets.length, now);
      }
    }
    sendTimings(id, event.voicedMs, textAt);
    bookmark.next += amount;
    report.segments++;
  };

  /** Figures about the pipeline, which go out only where a task asks for them. */
  const sendTimings = (id: string, voicedMs: number, at: number): void => {
    if (plan.texts.has('pipeline_timings')) {
      const timings = {
        transcription_id: id,
        voiced_ms: Math.round(voicedMs),
        translation_ms: choices.textDelayMs,
      };
      sender.sendAt({ type: 'pipeline_timings', data: timings }, at);
    }
    if (plan.texts.has('tts_buffer_stats')) {
      const stats = { queued_sentences: renderings.size, queued_messages: sender.waiting };
      sender.sendAt({ type: 'tts_buffer_stats', data: stats }, at);
    }
  };

  const obey = (event: SegmentEvent, now: number): void => {
    if (event.kind === 'started') {
      sentence++;
      lastPartial = '';
    } else if (event.kind === 'dropped') {
      report.segments_dropped++;
    } else {
      confirm(event, now);
    }
    report.speaking = segmenter.speaking;
  };

  const sendSpeech = (rendering: Rendering, pcm: Uint8Array, now: number): void => {
    noteLateness(report, Math.max(0, now - rendering.dueAt));
    const { id, language, languages, channels, outputHz, packed } = rendering;
    const size = Math.round((outputHz * choices.outputChunkMs) / 1000) * channels * 2;
    let at = Math.max(now, rendering.dueAt, speechFreeAt);
    for (let start = 0; start < pcm.byteLength; start += size) {
      const last = start + size >= pcm.byteLength;
      const ids = {
        transcription_id: id,
        translation_part_id: '0',
        language,
        last_chunk: last,
        chunk_generation_delta: Math.round(at - rendering.dueAt) / 1000,
      };
      const data = choices.transcriptIds ? ids : {};
      const piece = pcm.subarray(start, start + size);
      const ms = (piece.byteLength / 2 / channels / outputHz) * 1000;
      const spoken = { sentence: id, language, languages, ms, isLast: last };
      sender.sendAt({ type: 'output_audio_data', data, pcm: piece, packed, spoken }, at);
      at += choices.outputIntervalMs;
    }
    speechFreeAt = at;
  };

  const finish = (now: number): void => {
    for (const event of segmenter.finish()) obey(event, now);
  };

  const attend = (events: readonly SegmentEvent[], now: number): void => {
    for (const event of events) obey(event, now);
    sound.forget(segmenter.neededFrom);
    if (segmenter.speaking) sendPartial(now);
    if (!isFinishing || segmenter.isBehind) return;
    isFinishing = false;
    finish(now);
  };

  listenAnew();
  return {
    get busy() {
      return renderings.size > 0 || sender.waiting > 0 || segmenter.isBehind;
    },
    get speaking() {
      return segmenter.speaking;
    },
    hear(pcm, isLost, now) {
      const heard = downmix(samplesOf(pcm), plan.inputChannels);
      const mono = isLost ? new Int16Array(heard.length) : heard;
      times.take(mono.length / plan.inputHz, setup.shownClockAt(now));
      sound.append(mono);
      attend(segmenter.hear(mono), now);
      if (choices.translate === 'echo') {
        const data = echoIds(choices, plan, report.id);
        sender.send({ type: 'output_audio_data', data, pcm, packed: plan.packed }, now);
      }
    },
    decided(now) {
      attend(segmenter.take(), now);
    },
    finish(now) {
      if (segmenter.isBehind) isFinishing = true;
      else finish(now);
    },
    say(text, language, now) {
      sentence++;
      const voice: VoiceChoice = plan.targets.find((target) => target.language === language)?.voice ?? 'high';
      const job = { spoken: new Int16Array(0), spokenHz: plan.outputHz, text, language, voice, variant: 0 };
      const mode = choices.translate === 'echo' ? 'transform' : choices.translate;
      startRendering({ ...job, mode, ...outputOf(plan) }, sentenceId(), 1, now);
    },
    rendered(jobId, pcm, now) {
      const rendering = renderings.get(jobId);
      if (rendering === undefined) return;
      renderings.delete(jobId);
      sendSpeech(rendering, pcm, now);
    },
    interrupt() {
      renderings.clear();
      sender.dropSpeech();
      speechFreeAt = 0;
      segmenter.finish();
      report.speaking = false;
    },
    setPlan(next) {
      const sameSound = next.inputHz === plan.inputHz && next.inputChannels === plan.inputChannels;
      plan = next;
      times.replan();
      segmenter.rules.silenceThresholdMs = next.silenceThresholdMs;
      segmenter.rules.split = splitOf(next);
      if (sameSound) return;
      segmenter.close();
      listenAnew();
    },
    close() {
      segmenter.close();
      renderings.clear();
    },
  };
}

function outputOf(plan: TaskPlan): { outputHz: number; outputChannels: number } {
  return { outputHz: plan.outputHz, outputChannels: plan.outputChannels };
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
