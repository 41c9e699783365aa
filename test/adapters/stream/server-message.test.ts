import { describe, expect, it } from 'vitest';
import {
  parseServerFrame,
  SERVER_MESSAGE_DATA,
  TRANSCRIPT_TYPES,
} from '../../../src/adapters/stream/server-message.ts';
import { fc } from '../../properties.ts';

const frame = (type: string, data: unknown): string => JSON.stringify({ message_type: type, data });
const read = (type: string, data: unknown) => {
  const parsed = parseServerFrame(frame(type, data));
  return parsed.kind === 'message' ? parsed.message.data : parsed;
};
const transcript = (more: object) => ({ transcription: { text: 'hola', language: 'es', ...more } });

/** Required and optional fields of each message. */
const FIELDS = {
  transcript: {
    needed: { text: 'hola' },
    optional: ['transcription_id', 'translation_part_id', 'language', 'segments', 'more'],
  },
  sound: {
    needed: { data: 'AAAA' },
    optional: [
      'transcription_id',
      'translation_part_id',
      'language',
      'last_chunk',
      'chunk_generation_delta',
      'more',
    ],
  },
  others: {
    needed: {},
    optional: [
      'task_status',
      'command',
      'event',
      'code',
      'desc',
      'param',
      'reason',
      'error_code',
      'message',
      'data',
    ],
  },
} as const;

/** Any JSON value for any of these fields, each present or missing. */
const anyOf = (names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, fc.jsonValue()])), { requiredKeys: [] });

describe('a message of the service', () => {
  it.each(TRANSCRIPT_TYPES)('%s keeps its text, whatever its other fields contain', (type) => {
    fc.assert(
      fc.property(anyOf(FIELDS.transcript.optional), (rest) => {
        const data = read(type, { transcription: { ...rest, ...FIELDS.transcript.needed } });
        expect(data).toMatchObject({ transcription: { text: 'hola', language: expect.any(String) } });
      }),
    );
  });

  it('keeps its audio, whatever its other fields contain', () => {
    fc.assert(
      fc.property(anyOf(FIELDS.sound.optional), (rest) => {
        expect(read('output_audio_data', { ...rest, ...FIELDS.sound.needed })).toMatchObject({
          data: 'AAAA',
        });
      }),
    );
  });

  const others = Object.keys(SERVER_MESSAGE_DATA).filter(
    (type) => type !== 'output_audio_data' && !TRANSCRIPT_TYPES.some((one) => one === type),
  );
  it.each(others)('%s is accepted with any data', (type) => {
    fc.assert(
      fc.property(fc.oneof(anyOf(FIELDS.others.optional), fc.jsonValue()), (data) => {
        expect(parseServerFrame(frame(type, data)).kind).toBe('message');
      }),
    );
  });

  it.each([
    ['a number', 7, '7'],
    ['another number', 1e21, '1e+21'],
    ['a text', '7', '7'],
    ['true', true, null],
    ['an object', { a: 1 }, null],
    ['a list', [7], null],
    ['an empty text', '', null],
    ['a text of 200 characters', 'x'.repeat(200), 'x'.repeat(200)],
    ['a longer one', 'x'.repeat(201), null],
    ['null', null, null],
  ])('names its sentence equally in transcripts and audio with the id %s', (_, given, id) => {
    const text = read('validated_transcription', transcript({ transcription_id: given }));
    expect(text).toMatchObject({ transcription: { transcription_id: id } });
    const sound = read('output_audio_data', { data: '', transcription_id: given });
    expect(sound).toMatchObject({ transcription_id: id });
  });

  it.each([
    ['translation_part_id', 3, '3'],
    ['translation_part_id', { a: 1 }, null],
    ['translation_part_id', 'x'.repeat(201), null],
    ['language', 5, null],
    ['language', 'x'.repeat(201), null],
    ['last_chunk', 'true', null],
    ['chunk_generation_delta', 'x', null],
  ])('has in audio the %s %j read as %j', (field, given, expected) => {
    expect(read('output_audio_data', { data: '', [field]: given })).toMatchObject({ [field]: expected });
  });

  it('gets the language tag "und" when its text has no language', () => {
    for (const language of [undefined, null, 5, ['es'], 'x'.repeat(201)])
      expect(read('translated_transcription', transcript({ language }))).toMatchObject({
        transcription: { language: 'und' },
      });
  });

  it('is accepted when its last chunk has no audio', () => {
    for (const data of [undefined, null])
      expect(read('output_audio_data', { data, last_chunk: true })).toMatchObject({
        data: '',
        last_chunk: true,
      });
  });

  it('keeps the begin and the end of its segments, however many there are', () => {
    const segments = Array.from({ length: 9 }, (_, i) => ({ start: i, end: i + 1 }));
    for (const given of [segments, segments.slice(0, 2), segments.slice(0, 1), []]) {
      const data = read('partial_transcription', transcript({ segments: given }));
      const ends = given.length > 2 ? [given[0], given.at(-1)] : given;
      expect(data).toMatchObject({ transcription: { segments: ends } });
    }
  });

  it('is malformed when it is very long, not counting its audio', () => {
    const long = 'x'.repeat(300_000);
    for (const type of ['partial_transcription', 'warning', 'current_task'])
      expect(read(type, { ...transcript({}), more: long })).toEqual({
        kind: 'malformed',
        type,
        reason: `${type} that is too long`,
      });
    expect(read('output_audio_data', { data: long })).toMatchObject({ data: long });
    expect(read('output_audio_data', JSON.stringify({ data: long }))).toMatchObject({ data: long });
    expect(read('output_audio_data', { data: '', more: long })).toMatchObject({ kind: 'malformed' });
    expect(parseServerFrame(frame('other', long))).toEqual({ kind: 'unknown', type: 'other' });
  });

  it('is converted to the usual fields when its error is plain text or has numbers', () => {
    expect(read('error', 'session_revoked')).toMatchObject({ desc: 'session_revoked' });
    expect(read('warning', 'too fast')).toMatchObject({ message: 'too fast' });
    expect(read('error', { code: 404, error_code: '202100' })).toMatchObject({
      code: '404',
      error_code: 202_100,
    });
    expect(read('error', { error_code: 'a lot' })).toMatchObject({ error_code: null });
  });

  it.each([
    ['validated_transcription', {}, 'transcription'],
    ['validated_transcription', { transcription: { language: 'es' } }, 'transcription.text'],
    ['partial_transcription', transcript({ text: 7 }), 'transcription.text'],
    ['output_audio_data', {}, 'data'],
    ['output_audio_data', { data: 7, last_chunk: true }, 'data'],
    ['output_audio_data', { data: null }, 'data'],
    ['output_audio_data', [], 'data'],
  ])('is malformed: %s with %j, because of its %s', (type, data, where) => {
    expect(read(type, data)).toEqual({
      kind: 'malformed',
      type,
      reason: `${type} without a usable ${where}`,
    });
  });
});

describe('sound in its usual form', () => {
  const value = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.constantFrom('', 'a'.repeat(200), 'a'.repeat(201), null, undefined, true, false, 0, -1.5, [], {}),
  );
  const KEYS = [
    'data',
    'transcription_id',
    'translation_part_id',
    'language',
    'last_chunk',
    'chunk_generation_delta',
    'more',
    'constructor',
    '__proto__',
  ];
  const usual = {
    data: '#',
    transcription_id: 's1',
    translation_part_id: '0',
    language: 'es',
    last_chunk: false,
    chunk_generation_delta: 0,
  };

  it('is read as by the schema, whatever its fields hold', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...KEYS)), fc.array(value), (keys, values) => {
        const changed = Object.fromEntries(keys.map((key, at) => [key, values[at]]));
        for (const data of [changed, { ...usual, ...changed }]) {
          const json: unknown = JSON.parse(JSON.stringify(data));
          const wanted = SERVER_MESSAGE_DATA.output_audio_data.safeParse(json);
          if (wanted.success) expect(read('output_audio_data', data)).toEqual(wanted.data);
          else expect(read('output_audio_data', data)).toMatchObject({ kind: 'malformed' });
        }
      }),
    );
  });
});
