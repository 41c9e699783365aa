import * as z from 'zod';
import type { Task } from '../../protocol/service/task.ts';
import type { VoiceChoice } from './another-voice.ts';
import type { Choices } from './choices.ts';
import type { QueueRules } from './speech-backlog.ts';
import { readQueue } from './task-check.ts';

/** One target language and the voice that speaks it. */
export interface PlannedTarget {
  readonly language: string;
  readonly voice: VoiceChoice;
  /** Spoken languages that are translated into it; empty: all. */
  readonly sources: readonly string[];
}

/** A sentence that reaches `afterMs` and `chars` is cut; its first part is at least `minPartMs` long. */
export interface ForceSplit {
  readonly afterMs: number;
  readonly chars: number;
  readonly minPartMs: number;
}

/** A task as the pipeline needs it. */
export interface TaskPlan {
  /** The spoken language; `auto`: the service detects it. */
  readonly source: string;
  /** The languages that may be spoken. */
  readonly heard: readonly string[];
  /** Whether the task requests speech, not only texts. */
  readonly speaks: boolean;
  readonly queue: QueueRules | null;
  readonly inputFormat: 'pcm_s16le' | 'wav';
  /** Whether speech is sent compressed. */
  readonly packed: boolean;
  readonly targets: readonly PlannedTarget[];
  readonly inputHz: number;
  readonly inputChannels: number;
  readonly outputHz: number;
  readonly outputChannels: number;
  readonly silenceThresholdMs: number;
  /** When a sentence without a pause is cut; null: only at the longest allowed length. */
  readonly forceSplit: ForceSplit | null;
  /** Types of text that the service sends. */
  readonly texts: ReadonlySet<string>;
  /** Requested voices that do not exist. */
  readonly missingVoices: readonly string[];
}

/** Finds a cloned voice; null if no voice with this id is ready. */
export type FindVoice = (voiceId: string, now: number) => VoiceChoice | null;

const DEFAULT_TEXTS = ['translated_transcription', 'partial_transcription', 'validated_transcription'];
/** Rate of the speech (Hz) if neither the task nor the profile sets one. */
const USUAL_OUTPUT_HZ = 24_000;
function chooseVoice(
  voiceId: string | undefined,
  find: (voiceId: string) => VoiceChoice | null,
): VoiceChoice | null {
  if (voiceId === undefined) return 'contrast';
  if (voiceId === 'default_low') return 'low';
  if (voiceId === 'default_high') return 'high';
  return find(voiceId);
}

const seconds = z.number().min(0).max(60).optional();
const splitterSchema = z.object({
  sentence_splitter: z.object({
    advanced: z.object({
      force_split_min_seconds: seconds,
      force_split_min_characters: z.number().int().min(0).optional(),
      min_sentence_seconds: seconds,
    }),
  }),
});

/** The task's own limits if they are valid, otherwise the limits of the profile. */
function planSplit(transcription: object, choices: Choices): ForceSplit | null {
  if (choices.forceSplitMs === 0) return null;
  const splitter = splitterSchema.safeParse(transcription).data?.sentence_splitter.advanced;
  const ms = (inSeconds: number | undefined): number | undefined =>
    inSeconds === undefined ? undefined : inSeconds * 1000;
  return {
    afterMs: ms(splitter?.force_split_min_seconds) ?? choices.forceSplitMs,
    chars: splitter?.force_split_min_characters ?? choices.forceSplitChars,
    minPartMs: ms(splitter?.min_sentence_seconds) ?? choices.minSentenceMs,
  };
}

function planQueue(task: Task, choices: Choices): QueueRules | null {
  const queue = readQueue(task).data;
  if (!choices.queueLimits || queue === undefined) return null;
  return {
    desiredMs: queue.desired_queue_level_ms,
    maxMs: queue.max_queue_level_ms,
    autoTempo: queue.auto_tempo,
    minTempo: queue.min_tempo,
    maxTempo: queue.max_tempo,
  };
}

export function planTask(task: Task, choices: Choices, findVoice: FindVoice, now: number): TaskPlan {
  const { input_stream: input, output_stream: output, pipeline } = task;
  const missingVoices: string[] = [];
  const targets = pipeline.translations.map((translation): PlannedTarget => {
    const voiceId = translation.speech_generation?.voice_id;
    const voice = chooseVoice(voiceId, (id) => findVoice(id, now));
    if (voice === null && voiceId !== undefined) missingVoices.push(voiceId);
    return {
      language: translation.target_language,
      voice: voice ?? 'contrast',
      sources: translation.allowed_source_languages ?? [],
    };
  });
  const texts = new Set(pipeline.allowed_message_types ?? DEFAULT_TEXTS);
  if (!choices.translatedTexts) texts.delete('translated_transcription');
  const thresholdS = pipeline.transcription.segment_confirmation_silence_threshold;
  const source = pipeline.transcription.source_language;
  const asAsked = choices.outputRateHz === 0;
  return {
    source,
    heard: source === 'auto' ? (pipeline.transcription.detectable_languages ?? []) : [source],
    speaks: output !== null,
    queue: planQueue(task, choices),
    inputFormat: input.source.format,
    packed: output?.target.format === 'zlib_pcm_s16le',
    targets,
    inputHz: input.source.sample_rate,
    inputChannels: input.source.channels,
    outputHz: asAsked ? (output?.target.sample_rate ?? USUAL_OUTPUT_HZ) : choices.outputRateHz,
    outputChannels: asAsked ? (output?.target.channels ?? 1) : 1,
    forceSplit: planSplit(pipeline.transcription, choices),
    silenceThresholdMs: thresholdS === undefined ? choices.silenceThresholdMs : thresholdS * 1000,
    texts,
    missingVoices,
  };
}

const isSameLanguage = (one: string, other: string): boolean =>
  one.toLowerCase().split('-')[0] === other.toLowerCase().split('-')[0];

/** The targets into which speech in this language is translated. */
export function targetsOf(plan: TaskPlan, source: string): PlannedTarget[] {
  return plan.targets.filter(({ language, sources }) => {
    const isAllowed = sources.length === 0 || sources.some((one) => isSameLanguage(one, source));
    return isAllowed && !(plan.source === 'auto' && isSameLanguage(language, source));
  });
}
