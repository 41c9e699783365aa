import { OUTPUT_RATE_HZ, type StreamTask } from '../../ports/stream.ts';
import type { Task } from '../../protocol/service/task.ts';

/** The smallest valid task for one speaker and its translations (docs/service.md 4.7). */
export function speechTask({ source, targets, voice, inputRateHz }: StreamTask): Task {
  return {
    input_stream: {
      content_type: 'audio',
      source: { type: 'ws', format: 'pcm_s16le', sample_rate: inputRateHz, channels: 1 },
    },
    output_stream: {
      content_type: 'audio',
      target: { type: 'ws', format: 'pcm_s16le', sample_rate: OUTPUT_RATE_HZ, channels: 1 },
    },
    pipeline: {
      preprocessing: {},
      transcription: { source_language: source },
      translations: targets.map((target) => ({
        target_language: target,
        speech_generation: voice === null ? {} : { voice_id: voice },
      })),
    },
  };
}
