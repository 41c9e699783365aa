import { describe, expect, it } from 'vitest';
import { TRANSCRIPT_TYPES } from '../../../src/protocol/service/server-message.ts';
import { LaneHarness } from './lane-harness.ts';

describe('a transcript', () => {
  it.each(TRANSCRIPT_TYPES)('is a caption: %s', (kind) => {
    const lane = new LaneHarness().goLive();
    lane.says({
      message_type: kind,
      data: {
        transcription: { transcription_id: 't7', translation_part_id: '1', language: 'es', text: 'hola' },
      },
    });
    expect(lane.last('caption').caption).toEqual({
      kind,
      id: 't7',
      part: '1',
      language: 'es',
      text: 'hola',
    });
  });

  it('needs no id (docs/service.md 6 shows text and language only)', () => {
    const lane = new LaneHarness().goLive();
    lane.says({
      message_type: 'partial_transcription',
      data: { transcription: { language: 'en', text: 'hel' } },
    });
    expect(lane.last('caption').caption.id).toBeNull();
  });

  it('of the last words still comes while the stream drains', () => {
    const lane = new LaneHarness().goDraining();
    lane.says({
      message_type: 'translated_transcription',
      data: { transcription: { language: 'es', text: 'adiós' } },
    });
    expect(lane.last('caption').caption.text).toBe('adiós');
  });
});

describe('a warning', () => {
  it.each(['AUDIO_STREAM_TOO_FAST', 'AUDIO_STREAM_STALLED', 'VOICE_NOT_FOUND'])(
    'is noted, and the stream goes on: %s',
    (code) => {
      const lane = new LaneHarness().goLive();
      lane.says({ message_type: 'warning', data: { code, message: 'mind this' } });
      expect(lane.phase).toBe('live');
      expect(lane.state.warning).toEqual({
        code: `service_${code.toLowerCase()}`,
        message: 'mind this',
        at: lane.now,
      });
      lane.speak(3);
      expect(lane.wire).toBe('sss');
    },
  );

  it('may say nothing at all, or far too much', () => {
    const lane = new LaneHarness().goLive();
    lane.says({ message_type: 'warning', data: {} });
    expect(lane.state.warning).toMatchObject({ code: 'service_warning', message: 'no details' });
    lane.says({ message_type: 'warning', data: { code: 'C'.repeat(500) } });
    expect(lane.state.warning?.code).toHaveLength('service_'.length + 60);
    expect(lane.state.warning?.message).toHaveLength(200);
  });
});

describe('an error on a live stream', () => {
  it('that is no refusal is noted, and the stream goes on', () => {
    const lane = new LaneHarness().goLive();
    for (const code of ['NOT_FOUND', 'VALIDATION_ERROR', 'RATE_LIMIT_EXCEEDED', 'SOMETHING_NEW']) {
      lane.error({ code, desc: 'hm' });
      expect(lane.phase).toBe('live');
      expect(lane.state.warning?.code).toBe(
        code === 'NOT_FOUND' ? undefined : `service_${code.toLowerCase()}`,
      );
    }
  });
});

describe('a message without use', () => {
  it.each(['pipeline_timings', 'tts_buffer_stats'] as const)('is counted: %s', (message_type) => {
    const lane = new LaneHarness().goLive();
    lane.says({ message_type, data: {} });
    expect(lane.state.counts.ignored).toBe(1);
    expect(lane.phase).toBe('live');
  });
});
