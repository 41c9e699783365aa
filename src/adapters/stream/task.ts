import { OUTPUT_RATE_HZ, type StreamTask } from '../../ports/stream.ts';
import type { Task } from '../../protocol/service/task.ts';

/** The smallest valid task for these languages (docs/service.md 4.7). */
export function speechTask({ source, targets, voice, bothWays = false, inputRateHz }: StreamTask): Task {
  const speech_generation = voice === null ? {} : { voice_id: voice };
  const languages = [source, ...targets];
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
      transcription: bothWays
        ? { source_language: 'auto', detectable_languages: languages }
        : { source_language: source },
      translations: bothWays
        ? languages.map((target_language) => ({
            target_language,
            allowed_source_languages: languages.filter((language) => language !== target_language),
            speech_generation,
          }))
        : targets.map((target_language) => ({ target_language, speech_generation })),
    },
  };
}
