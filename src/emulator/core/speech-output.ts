import type { Choices } from './choices.ts';
import type { Effect } from './effect.ts';
import type { RenderJob } from './render.ts';
import type { Sender } from './sender.ts';
import { createSpeechBacklog } from './speech-backlog.ts';
import { noteLateness, type StreamReport } from './stream-report.ts';
import type { TaskPlan } from './task-plan.ts';
import { PART_INTERVAL_MS } from './translation-parts.ts';

/** Maximum number of renderings in progress on one stream; further sentences are not spoken. */
const MOST_RENDERINGS = 64;

interface Rendering {
  readonly id: string;
  readonly part: number;
  readonly isLastPart: boolean;
  readonly language: string;
  /** Number of languages in which the sentence is spoken. */
  readonly languages: number;
  readonly dueAt: number;
  readonly channels: number;
  readonly outputHz: number;
  readonly packed: boolean;
}

/** An order for speech of one sentence in one language; this module decides the tempo. */
export type SpeechOrder = Omit<
  RenderJob,
  'id' | 'stream' | 'sentence' | 'part' | 'tempo' | 'outputHz' | 'outputChannels'
>;

/** A part of a sentence's translation. */
export interface PartNumber {
  readonly part: number;
  readonly of: number;
}

const ONE_PART: PartNumber = { part: 0, of: 1 };

/** Orders speech and sends it in chunks, one sentence after another. */
export interface SpeechOutput {
  /** Number of sentences whose speech is being synthesised. */
  readonly making: number;
  /** @param languages number of languages in which the sentence is spoken */
  order(order: SpeechOrder, sentence: string, languages: number, now: number, part?: PartNumber): void;
  rendered(jobId: number, pcm: Uint8Array, now: number): void;
  /** Drops speech that is not yet spoken. @param languages only the speech in these */
  interrupt(languages: ReadonlySet<string> | null): void;
  /** Data of `tts_buffer_stats`. @param wallMs now, as the service shows it */
  stats(now: number, wallMs: number): Record<string, unknown>;
  close(): void;
}

export interface SpeechOutputSetup {
  readonly choices: Choices;
  readonly report: StreamReport;
  readonly sender: Sender;
  readonly nextJobId: () => number;
  readonly emit: (effect: Effect) => void;
  readonly getPlan: () => TaskPlan;
}

export function createSpeechOutput(setup: SpeechOutputSetup): SpeechOutput {
  const { choices, report, sender, getPlan } = setup;
  const renderings = new Map<number, Rendering>();
  const backlog = createSpeechBacklog();
  let freeAt = 0;

  /** Drops older speech to make room for speech of this length (ms), by the task's rules. */
  const makeRoom = (language: string, ms: number, now: number): void => {
    const { queue } = getPlan();
    const level = backlog.levelMs(language, now);
    if (queue === null || level + ms <= queue.maxMs) return;
    const dropped = sender.dropOldest(language, level - queue.desiredMs);
    if (dropped === 0) return;
    backlog.drop(language, dropped);
    freeAt = Math.min(freeAt, sender.lastAt + choices.outputIntervalMs);
    report.speech_dropped_ms += Math.round(dropped);
  };

  const send = (rendering: Rendering, pcm: Uint8Array, now: number): void => {
    noteLateness(report, Math.max(0, now - rendering.dueAt));
    const { id, part, isLastPart, language, languages, channels, outputHz, packed } = rendering;
    const size = Math.round((outputHz * choices.outputChunkMs) / 1000) * channels * 2;
    const msOf = (bytes: number): number => (bytes / 2 / channels / outputHz) * 1000;
    makeRoom(language, msOf(pcm.byteLength), now);
    backlog.add(language, msOf(pcm.byteLength), now);
    let at = Math.max(now, rendering.dueAt, freeAt);
    for (let start = 0; start < pcm.byteLength; start += size) {
      const last = start + size >= pcm.byteLength;
      const ids = {
        transcription_id: id,
        translation_part_id: String(part),
        language,
        last_chunk: last,
        chunk_generation_delta: Math.round(at - rendering.dueAt) / 1000,
      };
      const data = choices.transcriptIds ? ids : {};
      const piece = pcm.subarray(start, start + size);
      const isLast = last && isLastPart;
      const spoken = { sentence: id, language, languages, ms: msOf(piece.byteLength), isLast };
      sender.sendAt({ type: 'output_audio_data', data, pcm: piece, packed, spoken }, at);
      at += choices.outputIntervalMs;
    }
    freeAt = at;
  };

  return {
    get making() {
      return renderings.size;
    },
    order(order, id, languages, now, { part, of } = ONE_PART) {
      if (renderings.size >= MOST_RENDERINGS || sender.isMute(now)) return;
      const { outputHz, outputChannels, packed, queue } = getPlan();
      const jobId = setup.nextJobId();
      const { language } = order;
      const dueAt = now + choices.speechDelayMs + part * PART_INTERVAL_MS;
      const tempo = backlog.tempo(language, queue, now);
      const format = { channels: outputChannels, outputHz, packed };
      renderings.set(jobId, { id, part, isLastPart: part === of - 1, language, languages, dueAt, ...format });
      const name = { id: jobId, stream: report.id, sentence: id, part };
      const job = { ...order, ...name, tempo, outputHz, outputChannels };
      setup.emit({ type: 'render', job });
    },
    rendered(jobId, pcm, now) {
      const rendering = renderings.get(jobId);
      if (rendering === undefined) return;
      renderings.delete(jobId);
      send(rendering, pcm, now);
    },
    interrupt(languages) {
      for (const [id, { language }] of renderings) {
        if (languages === null || languages.has(language)) renderings.delete(id);
      }
      sender.dropSpeech(languages);
      backlog.clear(languages);
      if (languages === null) freeAt = 0;
    },
    stats(now, wallMs) {
      const { targets, queue } = getPlan();
      const timestamp = wallMs / 1000;
      const levels = targets.map(({ language }) => [
        language,
        {
          current_queue_level_ms: Math.round(backlog.levelMs(language, now)),
          max_queue_level_ms: queue?.maxMs ?? 0,
        },
      ]);
      return { stats: { ...Object.fromEntries(levels), timestamp }, timestamp };
    },
    close() {
      renderings.clear();
    },
  };
}
