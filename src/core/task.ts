import type { Task } from '../protocol/service/task.ts';

/** Rate of the translated audio (Hz): the only rate that every known service delivers. */
export const OUTPUT_RATE_HZ = 24_000;

/** The smallest valid task for one speaker and its translations (docs/service.md 4.7). */
export function speechTask(given: {
  source: string;
  targets: readonly string[];
  voice: string | null;
  inputRateHz: number;
}): Task {
  return {
    input_stream: {
      content_type: 'audio',
      source: { type: 'ws', format: 'pcm_s16le', sample_rate: given.inputRateHz, channels: 1 },
    },
    output_stream: {
      content_type: 'audio',
      target: { type: 'ws', format: 'pcm_s16le', sample_rate: OUTPUT_RATE_HZ, channels: 1 },
    },
    pipeline: {
      preprocessing: {},
      transcription: { source_language: given.source },
      translations: given.targets.map((target) => ({
        target_language: target,
        speech_generation: given.voice === null ? {} : { voice_id: given.voice },
      })),
    },
  };
}
