import { describe, expect, it } from 'vitest';
import { speechTask } from '../../../src/adapters/stream/task.ts';
import { taskSchema } from '../../../src/protocol/service/task.ts';

const GIVEN = { source: 'en', targets: ['es', 'fr'], voice: null, inputRateHz: 16_000 };

describe('the task of a lane', () => {
  it('equals the one in docs/service.md 4.7', () => {
    expect(speechTask(GIVEN)).toEqual({
      input_stream: {
        content_type: 'audio',
        source: { type: 'ws', format: 'pcm_s16le', sample_rate: 16_000, channels: 1 },
      },
      output_stream: {
        content_type: 'audio',
        target: { type: 'ws', format: 'pcm_s16le', sample_rate: 24_000, channels: 1 },
      },
      pipeline: {
        preprocessing: {},
        transcription: { source_language: 'en' },
        translations: [
          { target_language: 'es', speech_generation: {} },
          { target_language: 'fr', speech_generation: {} },
        ],
      },
    });
  });

  it('names the voice for every language when one is chosen', () => {
    const { translations } = speechTask({ ...GIVEN, voice: 'default_low' }).pipeline;
    expect(translations.map(({ speech_generation: speech }) => speech)).toEqual([
      { voice_id: 'default_low' },
      { voice_id: 'default_low' },
    ]);
  });

  it('passes the schema of the wire', () => {
    expect(taskSchema.safeParse(speechTask({ ...GIVEN, voice: 'v' })).success).toBe(true);
  });
});
