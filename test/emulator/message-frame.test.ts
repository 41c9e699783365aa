import { describe, expect, test } from 'vitest';
import { base64Length, decodeBase64, encodeBase64 } from '../../src/emulator/base64.ts';
import { readFrame, writeFrame } from '../../src/emulator/message-frame.ts';
import { fc } from '../properties.ts';

const bytes = fc.uint8Array({ maxLength: 200 });

describe('base64 in bytes', () => {
  test('is written in the standard form, and read again', () => {
    fc.assert(
      fc.property(bytes, fc.nat(5), (data, before) => {
        const wanted = Buffer.from(data).toString('base64');
        const target = Buffer.alloc(before + base64Length(data.length));
        expect(encodeBase64(data, target, before)).toBe(target.length);
        expect(target.toString('latin1', before)).toBe(wanted);
        expect(decodeBase64(target, before, target.length)).toEqual(data);
      }),
    );
  });

  test('is also read without padding and in the URL-safe alphabet', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const text = Buffer.from(Buffer.from(data).toString('base64url'));
        expect(decodeBase64(text, 0, text.length)).toEqual(data);
      }),
    );
  });

  test.each(['A', 'AAAAA', 'AA A', 'AA"A', 'A===', 'AAAA=AAA', 'é', 'AA\\u0041A', 'A\n'])(
    'is refused when it is %j',
    (text) => {
      const frame = Buffer.from(text);
      expect(decodeBase64(frame, 0, frame.length)).toBeNull();
    },
  );
});

describe('frames', () => {
  const read = (text: string) => readFrame(Buffer.from(text), false);
  const sound = { kind: 'audio', pcm: new Uint8Array([1, 2, 3, 4]), chars: 8 };

  test.each([
    '{"message_type":"input_audio_data","data":{"data":"AQIDBA=="}}',
    ' {"message_type": "input_audio_data", "data": {"data": "AQIDBA=="}}\n',
    '{"data":{"data":"AQIDBA=="},"message_type":"input_audio_data"}',
    '{"message_type":"input_audio_data","data":"{\\"data\\":\\"AQIDBA==\\"}"}',
    '{"message_type":"input_audio_data","data":{"data":"AQID\\u0042A=="},"x":1}',
    '{"message_type":"input_audio_data","data":{"data":"AQIDBA==","x":[]}}',
  ])('are read with sound in any form: %s', (text) => {
    expect(read(text)).toMatchObject({ kind: 'audio', chars: 8 });
    expect(Buffer.from((read(text) as typeof sound).pcm)).toEqual(Buffer.from(sound.pcm));
  });

  test.each([
    ['{"message_type":"input_audio_data","data":{"data":"A*=="}}', 'data.data is not base64'],
    ['{"message_type":"input_audio_data","data":{"data":"AAAA"}', 'the frame is not a JSON object'],
    ['{"message_type":"input_audio_data","data":{"data":"AAAA"}}}', 'the frame is not a JSON object'],
  ])('are refused with the problem: %s', (text, why) => {
    expect(read(text)).toEqual({ kind: 'junk', why });
  });

  test('are written as JSON with sound, with any other fields and in every form', () => {
    const fields = fc.dictionary(
      fc.string().filter((key) => key !== 'data' && key !== '__proto__'),
      fc.string(),
      {
        maxKeys: 3,
      },
    );
    fc.assert(
      fc.property(bytes, fields, fc.constantFrom('object' as const, 'string' as const), (pcm, data, form) => {
        const frame = writeFrame({ type: 'output_audio_data', data, pcm }, form, 0);
        const json = JSON.parse(Buffer.from(frame as string).toString()) as {
          message_type: string;
          data: unknown;
        };
        const inside: unknown = form === 'string' ? JSON.parse(String(json.data)) : json.data;
        expect(inside).toEqual({ ...data, data: Buffer.from(pcm).toString('base64') });
        expect(json.message_type).toBe('output_audio_data');
      }),
    );
  });
});
