import { describe, expect, it } from 'vitest';
import { speechTask } from '../../../src/adapters/stream/task.ts';
import { PROFILES, resolveChoices } from '../../../src/emulator/core/choices.ts';
import { objectToTask } from '../../../src/emulator/core/task-check.ts';
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

  it('asks for both directions when either person may speak', () => {
    const both = speechTask({ ...GIVEN, targets: ['es'], voice: 'default_low', bothWays: true });
    const speech_generation = { voice_id: 'default_low' };
    expect(both.pipeline.transcription).toEqual({
      source_language: 'auto',
      detectable_languages: ['en', 'es'],
    });
    expect(both.pipeline.translations).toEqual([
      { target_language: 'en', allowed_source_languages: ['es'], speech_generation },
      { target_language: 'es', allowed_source_languages: ['en'], speech_generation },
    ]);
  });

  it.each(PROFILES)('is accepted by the emulator for both directions when its profile is %s', (profile) => {
    const task = taskSchema.parse(speechTask({ ...GIVEN, targets: ['es'], bothWays: true }));
    expect(objectToTask(task, resolveChoices(profile, {}))).toBeNull();
  });

  it('passes the schema of the wire', () => {
    expect(taskSchema.safeParse(speechTask({ ...GIVEN, voice: 'v' })).success).toBe(true);
  });
});
