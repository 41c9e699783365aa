import { describe, expect, it } from 'vitest';
import { endedOf, eventOf, spokeOf, utteranceOf } from '../../../src/adapters/stream/server-event.ts';
import { parseServerFrame } from '../../../src/adapters/stream/server-message.ts';
import type { Ended, ServiceEvent } from '../../../src/ports/stream.ts';
import {
  closed,
  finished,
  heard,
  limit,
  pushed,
  ready,
  refused,
  rejected,
  translated,
  understood,
  warned,
} from '../../service-events.ts';

function read(type: string, data: unknown): ServiceEvent {
  const parsed = parseServerFrame(JSON.stringify({ message_type: type, data }));
  if (parsed.kind !== 'message') throw new Error(`not a message: ${JSON.stringify(parsed)}`);
  const { message } = parsed;
  if (message.message_type !== 'output_audio_data') return eventOf(message);
  return spokeOf(message.data, new Uint8Array(0));
}

describe('a message of the service', () => {
  const whole = { transcription_id: 't7', translation_part_id: 1, language: 'es', text: 'hola' };
  const segments = [
    { start: 0.5, end: 1 },
    { start: 1, end: 2 },
    { start: 2, end: 3.25 },
  ];
  const said = { id: 't7', language: 'es', text: 'hola' };
  const span = { fromMs: 500, toMs: 3250 };
  it.each<[string, object, ServiceEvent]>([
    ['partial_transcription', whole, heard(said)],
    ['validated_transcription', { ...whole, segments }, understood({ ...said, span })],
    ['partial_translated_transcription', whole, translated({ ...said, part: '1', isFinal: false })],
    ['translated_transcription', { ...whole, segments }, translated({ ...said, part: '1', span })],
    ['partial_transcription', { text: 'so', language: 'en' }, heard()],
    ['validated_transcription', { text: 'so', language: 'en' }, understood()],
    ['validated_transcription', { text: 'so', language: 'en', segments: [{ start: 1 }] }, understood()],
  ])('is a transcript: %s %j', (type, transcription, event) => {
    expect(read(type, { transcription })).toEqual(event);
  });

  const translations = [{ target_language: 'es' }, { target_language: 'fr' }];
  it.each<[string, object, ServiceEvent]>([
    ['current_task', {}, ready()],
    ['current_task', { task_status: 'running' }, ready()],
    ['current_task', { pipeline: { translations } }, ready('running', { targets: ['es', 'fr'] })],
    ['current_task', { task_status: 'paused' }, ready('paused')],
    ['current_task', { task_status: 'unknown' }, ready('unclear')],
    ['current_task', { task_status: '' }, ready('unclear')],
    ['task_status', { command: 'set_task', task_status: 'running' }, pushed('running')],
    ['task_status', { task_status: 'paused' }, pushed('paused')],
    ['task_status', {}, pushed('unclear')],
    ['pipeline_timings', {}, pushed('unclear')],
    ['tts_buffer_stats', {}, pushed('unclear')],
    ['error', { code: 'NOT_FOUND' }, ready('none', { detail: 'NOT_FOUND' })],
    ['error', { code: 'NOT_FOUND', desc: 'no task' }, ready('none', { detail: 'NOT_FOUND: no task' })],
  ])('reports whether the task runs: %s %j', (type, data, event) => {
    expect(read(type, data)).toEqual(event);
  });

  it.each<[string, object, ServiceEvent]>([
    [
      'warning',
      { code: 'VOICE_NOT_FOUND', message: 'm' },
      warned('warning', { code: 'VOICE_NOT_FOUND', text: 'm' }),
    ],
    ['warning', {}, warned('warning')],
    [
      'error',
      { code: 'RATE_LIMIT_EXCEEDED', desc: 'd' },
      warned('error', { code: 'RATE_LIMIT_EXCEEDED', text: 'd' }),
    ],
    ['error', {}, warned('error')],
    ['error', { code: 'VALIDATION_ERROR', desc: 'd' }, { ...rejected('d'), code: 'VALIDATION_ERROR' }],
    [
      'error',
      { code: 'VALIDATION_ERROR', desc: 'd', param: 'message_type' },
      { ...rejected('d'), code: 'VALIDATION_ERROR', isUnknownKind: true },
    ],
  ])('is an objection: %s %j', (type, data, event) => {
    expect(read(type, data)).toEqual(event);
  });

  it.each<[object, ServiceEvent]>([
    [{ code: 'SERVICE_TIMEOUT' }, refused('service_timeout', { detail: 'SERVICE_TIMEOUT' })],
    [{ reason: 'intent_mismatch' }, refused('intent_mismatch')],
    [{ error_code: 202102 }, refused('max_duration_reached', { errorCode: 202102 })],
    [
      { desc: 'Session limit reached' },
      refused('session_limit_reached', { detail: 'Session limit reached' }),
    ],
    [{ code: 'NOT_FOUND', reason: 'session_revoked' }, refused('session_revoked', { detail: 'NOT_FOUND' })],
    [
      { code: 'INSUFFICIENT_BALANCE', desc: 'top up', error_code: 100_050 },
      refused('insufficient_balance', { errorCode: 100_050, detail: 'INSUFFICIENT_BALANCE: top up' }),
    ],
  ])('is a refusal: %j', (data, event) => {
    expect(read('error', data)).toEqual(event);
  });

  it.each<[string, ServiceEvent]>([
    ['max_duration_reached', limit('max_duration')],
    ['session_revoked', limit('revoked')],
    ['eos', finished()],
    ['end_of_stream', finished()],
  ])('ends the stream: %s', (type, event) => {
    expect(read(type, {})).toEqual(event);
  });
});

describe('sound of the service', () => {
  it('is named by its sentence, part and language', () => {
    const data = {
      data: '',
      transcription_id: 7,
      translation_part_id: '0',
      language: 'es',
      last_chunk: true,
    };
    expect(read('output_audio_data', data)).toMatchObject({
      type: 'spoke',
      sentence: '7',
      part: '0',
      language: 'es',
      utterance: '7/0/es',
      last: true,
    });
  });

  it('has no name without ids, and all such sound belongs together', () => {
    expect(utteranceOf({ data: '' })).toBe('//');
    expect(read('output_audio_data', { data: '' })).toMatchObject({
      sentence: null,
      utterance: null,
      last: false,
    });
  });
});

describe('the close of a connection', () => {
  it.each<[number, string, Ended]>([
    [1000, '', closed('closed', { detail: '1000' })],
    [1001, 'going away', closed('cut', { detail: '1001, going away' })],
    [1006, '', closed('cut', { detail: '1006' })],
    [1008, '', closed('cut', { reason: 'service_error', detail: '1008' })],
    [1011, '', closed('cut', { reason: 'service_error', detail: '1011' })],
    [1012, '', closed('cut', { reason: 'service_error', detail: '1012' })],
    [1013, 'later', closed('cut', { reason: 'service_error', detail: '1013, later' })],
    [1014, '', closed('cut', { reason: 'service_error', detail: '1014' })],
    [1015, '', closed('cut', { detail: '1015' })],
    [4321, '', closed('cut', { reason: 'service_error', detail: '4321' })],
    [1008, 'SERVICE_TIMEOUT', closed('cut', { reason: 'service_timeout', detail: '1008, SERVICE_TIMEOUT' })],
    [
      1000,
      'session_revoked',
      closed('closed', { reason: 'session_revoked', detail: '1000, session_revoked' }),
    ],
  ])('reports how and why the stream ended: %i %j', (code, said, event) => {
    expect(endedOf(code, said)).toEqual(event);
  });
});
