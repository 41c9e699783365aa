import { describe, expect, it } from 'vitest';
import { decodeAdpcm } from '../../src/sound/adpcm.ts';
import { samplesOf } from '../../src/sound/pcm.ts';

interface Chunk {
  readonly name: string;
  readonly body: Uint8Array;
}

const words = (...values: readonly [value: number, bytes: 1 | 2 | 4][]): Uint8Array => {
  const out = Buffer.alloc(values.reduce((sum, [, bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [value, bytes] of values) at = out.writeUIntLE(value, at, bytes);
  return out;
};
const format = ({ tag = 0x11, channels = 1, blockBytes = 6, rateHz = 16_000 } = {}): Chunk => ({
  name: 'fmt ',
  body: words([tag, 2], [channels, 2], [rateHz, 4], [8000, 4], [blockBytes, 2], [4, 2]),
});
const data = (...bytes: number[]): Chunk => ({ name: 'data', body: Uint8Array.from(bytes) });
const fact = (samples: number): Chunk => ({ name: 'fact', body: words([samples, 4]) });
const file = (...chunks: Chunk[]): Uint8Array => {
  const parts = chunks.map(({ name, body }) =>
    Buffer.concat([Buffer.from(name), words([body.length, 4]), body, Buffer.alloc(body.length % 2)]),
  );
  return Buffer.concat([Buffer.from('RIFF'), words([0, 4]), Buffer.from('WAVE'), ...parts]);
};
const samples = (bytes: Uint8Array): number[] | null => {
  const decoded = decodeAdpcm(bytes);
  return decoded === null ? null : [...samplesOf(decoded.pcm)];
};

describe('IMA ADPCM', () => {
  it('decodes by the rules of the standard, low half of each byte first', () => {
    // Step 7: 4 gives 7, 12 gives -7; each moves the step up by two places, 7 -> 9 -> 11.
    expect(samples(file(format(), data(100, 0, 0, 0, 0xc4, 0x00)))).toEqual([100, 107, 97, 98, 99]);
  });

  it('starts again at each block, and stays within 16 bits', () => {
    const loud = [0xff, 0x7f, 88, 0, 0x77, 0x77];
    expect(samples(file(format(), data(...loud, 0x00, 0x80, 88, 0, 0xff, 0xff)))).toEqual([
      32_767, 32_767, 32_767, 32_767, 32_767, -32_768, -32_768, -32_768, -32_768, -32_768,
    ]);
  });

  it('drops the padding of the last block', () => {
    expect(samples(file(format(), fact(2), data(100, 0, 0, 0, 0xc4, 0x00)))).toEqual([100, 107]);
  });

  it('decodes the available part of a truncated file', () => {
    const whole = file(format(), data(100, 0, 0, 0, 0xc4, 0x00, 50, 0, 0, 0, 0xc4, 0x00));
    expect(samples(whole.subarray(0, -1))).toEqual([100, 107, 97, 98, 99, 50, 57, 47]);
    expect(samples(whole.subarray(0, -5))).toEqual([100, 107, 97, 98, 99]);
  });

  it('clamps a step outside the table', () => {
    expect(samples(file(format(), data(0, 0, 255, 0, 0x08)))).toEqual([0, -4095, -371]);
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['another kind of file', Buffer.from('OggS and more than twelve bytes')],
    ['plain PCM', file(format({ tag: 1 }), data(1, 2))],
    ['two channels', file(format({ channels: 2 }), data(1, 2))],
    ['a rate of 1 Hz', file(format({ rateHz: 1 }), data(1, 2))],
    ['a rate of 4 GHz', file(format({ rateHz: 0xffff_ffff }), data(1, 2))],
    ['blocks without sound', file(format({ blockBytes: 4 }), data(1, 2))],
    ['sound before its format', file(data(1, 2), format())],
    ['no sound', file(format())],
    ['a format that is too short', file({ name: 'fmt ', body: words([0x11, 2]) }, data(1, 2))],
    [
      'parts without end',
      file(...Array.from({ length: 40 }, () => ({ name: 'junk', body: words([0, 2]) })), format(), data(1)),
    ],
    [
      'a part that is longer than the file',
      file(format(), { name: 'LIST', body: words([0, 4]) }).subarray(0, -2),
    ],
  ])('returns null for %s', (_, bytes) => {
    expect(decodeAdpcm(bytes)).toBeNull();
  });
});
