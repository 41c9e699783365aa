import { appendFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AudioFaultError } from '../../../src/adapters/audio/fault.ts';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import { decodeFrames, makeHeader, openWav } from '../../../src/adapters/audio/wav.ts';
import { toPcm } from '../../../src/sound/pcm.ts';
import { fc } from '../../properties.ts';
import {
  makeChunk,
  makeFolder,
  makeNumbered,
  makePcm,
  makeWav,
  readSamples,
  writeTemp,
} from './wav-files.ts';

/** Everything the file holds, as 16-bit samples of one channel. */
function readAll(file: Uint8Array): { samples: number[]; rateHz: number } {
  const reader = openWav(writeTemp(file));
  try {
    const raw = reader.read(0, reader.frames);
    return { samples: readSamples(toPcm(decodeFrames(raw, reader.format))), rateHz: reader.format.rateHz };
  } finally {
    reader.close();
  }
}

function problemOf(path: string): AudioFaultError {
  try {
    openWav(path).close();
  } catch (error) {
    if (error instanceof AudioFaultError) return error;
    throw error;
  }
  throw new Error('this file should not open');
}

const SAMPLES = [0, 1, -1, 12_345, -12_345, 32_767, -32_768];

describe('WAV formats', () => {
  it('reads integers of 16, 24 and 32 bits to the same sound', () => {
    const wide = (bytes: number): Buffer =>
      Buffer.concat(SAMPLES.map((value) => Buffer.concat([Buffer.alloc(bytes - 2), makePcm([value])])));
    expect(readAll(makeWav({ data: makePcm(SAMPLES) })).samples).toEqual(SAMPLES);
    expect(readAll(makeWav({ bits: 24, data: wide(3) })).samples).toEqual(SAMPLES);
    expect(readAll(makeWav({ bits: 32, data: wide(4) })).samples).toEqual(SAMPLES);
  });

  it('rounds the finer steps of 24 bits', () => {
    const data = Buffer.from([0x7f, 0x00, 0x00, 0x81, 0x00, 0x00, 0x80, 0xff, 0xff]);
    expect(readAll(makeWav({ bits: 24, data })).samples).toEqual([0, 1, 0]);
  });

  it('reads 20 bits in 3 bytes and 24 bits in 4', () => {
    const wide = (bytes: number): Buffer =>
      Buffer.concat(SAMPLES.map((value) => Buffer.concat([Buffer.alloc(bytes - 2), makePcm([value])])));
    expect(readAll(makeWav({ bits: 20, frameBytes: 3, data: wide(3) })).samples).toEqual(SAMPLES);
    expect(readAll(makeWav({ bits: 24, frameBytes: 4, data: wide(4) })).samples).toEqual(SAMPLES);
  });

  it('reads 8 bits as unsigned', () => {
    const data = Buffer.from([128, 129, 127, 255, 0]);
    expect(readAll(makeWav({ bits: 8, data })).samples).toEqual([0, 256, -256, 32_512, -32_768]);
  });

  it('reads floats of 32 and 64 bits, saturating above full scale', () => {
    const values = [0, 0.5, -0.5, 1.5, -1.5];
    const single = Buffer.alloc(values.length * 4);
    const double = Buffer.alloc(values.length * 8);
    for (const [i, value] of values.entries()) {
      single.writeFloatLE(value, i * 4);
      double.writeDoubleLE(value, i * 8);
    }
    const wanted = [0, 16_384, -16_384, 32_767, -32_768];
    expect(readAll(makeWav({ tag: 3, bits: 32, data: single })).samples).toEqual(wanted);
    expect(readAll(makeWav({ tag: 3, bits: 64, data: double })).samples).toEqual(wanted);
  });

  it('reads WAVE_FORMAT_EXTENSIBLE', () => {
    expect(readAll(makeWav({ extensible: true, data: makePcm(SAMPLES) })).samples).toEqual(SAMPLES);
    const data = Buffer.alloc(4);
    data.writeFloatLE(0.25);
    expect(readAll(makeWav({ extensible: true, tag: 3, bits: 32, data })).samples).toEqual([8192]);
  });

  it.each([2, 3, 6, 8])('mixes %i channels down to their mean', (channels) => {
    const equal = SAMPLES.flatMap((value) => Array.from({ length: channels }, () => value));
    expect(readAll(makeWav({ channels, data: makePcm(equal) })).samples).toEqual(SAMPLES);
    const one = [channels * 100, ...Array.from({ length: channels - 1 }, () => 0)];
    expect(readAll(makeWav({ channels, data: makePcm(one) })).samples).toEqual([100]);
  });

  it('reports the rate', () => {
    expect(readAll(makeWav({ rateHz: 44_100, data: makePcm([7]) })).rateHz).toBe(44_100);
  });
});

describe('WAV containers', () => {
  const data = makePcm(SAMPLES);

  it('skips other chunks, odd ones with their pad byte, and stops at the end of the sound', () => {
    const list = makeChunk('LIST', Buffer.from('seven b'));
    const file = makeWav({ data, before: [list, makeChunk('fact', Buffer.alloc(4))], after: [list] });
    expect(list.subarray(15)).toEqual(Buffer.alloc(1));
    expect(readAll(file).samples).toEqual(SAMPLES);
  });

  it.each([0, 0x7fff_f000, 0xffff_fffe, 0xffff_ffff])(
    'uses the file’s length instead of a data size of %i from a pipe',
    (size) => {
      expect(readAll(makeWav({ data, dataSize: size, riffSize: 0xffff_ffff })).samples).toEqual(SAMPLES);
      expect(readAll(makeWav({ data, dataSize: size, riffSize: 0 })).samples).toEqual(SAMPLES);
    },
  );

  it('uses the file’s length instead of a data size of 0 when only the size of the file was written at the end', () => {
    const file = makeWav({ data, dataSize: 0 });
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    expect(readAll(file).samples).toEqual(SAMPLES);
  });

  it.each(['LIST', 'umid'])('accepts a data size of 0 when only chunks follow (%s)', (id) => {
    const after = [makeChunk(id, Buffer.alloc(20)), makeChunk('PAD ', Buffer.alloc(70_000))];
    expect(readAll(makeWav({ after })).samples).toEqual([]);
  });

  it('reads the rest of a truncated file, without the incomplete frame', () => {
    const path = writeTemp(makeWav({ channels: 2, data: makePcm([1, 1, 2, 2, 3, 3]) }));
    truncateSync(path, 44 + 4 + 4 + 3);
    const reader = openWav(path);
    expect(reader.frames).toBe(2);
    expect(readSamples(reader.read(0, 100))).toEqual([1, 1, 2, 2]);
    expect(reader.read(2, 1)).toHaveLength(0);
    truncateSync(path, 44 + 4 + 1);
    expect(readSamples(reader.read(0, 100))).toEqual([1, 1]);
    reader.close();
    reader.close();
  });

  it('reads a file to its end while it grows, when its header does not know the size', () => {
    for (const dataSize of [0, 0xffff_ffff]) {
      const path = writeTemp(makeWav({ data, dataSize, riffSize: 36 }));
      const reader = openWav(path);
      expect(reader.frames).toBe(SAMPLES.length);
      expect(reader.read(SAMPLES.length, 10)).toHaveLength(0);
      appendFileSync(path, makePcm([7, 8, 9]));
      expect(reader.frames).toBe(SAMPLES.length + 3);
      expect(readSamples(reader.read(SAMPLES.length, 10))).toEqual([7, 8, 9]);
      reader.close();
    }
  });

  it.each([0, 0xffff_ffff, 0x7fff_f000])(
    'does not take a trailer for sound when the header promises %i bytes',
    (dataSize) => {
      const list = makeChunk('LIST', Buffer.from('INFOISFT\x0e\0\0\0Lavf60.16.100\0', 'latin1'));
      const tag = makeChunk('id3 ', Buffer.from('ID3\x04\0\0\0\0\0\0odd', 'latin1'));
      const file = (after: Buffer[]) => makeWav({ data, dataSize, riffSize: 0xffff_ffff, after });
      expect(readAll(file([list])).samples).toEqual(SAMPLES);
      expect(readAll(file([list, tag])).samples).toEqual(SAMPLES);
      const old = Buffer.alloc(128);
      old.write('TAGA title', 'latin1');
      expect(readAll(file([old])).samples).toEqual(SAMPLES);
      const sound = Buffer.from("LISTEN, this isn't a chunk", 'latin1');
      expect(readAll(file([sound])).samples).toHaveLength(SAMPLES.length + sound.length / 2);
    },
  );

  it('does not take a trailer for sound when the header counts it as sound', () => {
    const list = makeChunk('LIST', Buffer.from('INFOISFT', 'latin1'));
    const file = makeWav({ data, dataSize: data.length + list.length, after: [list] });
    expect(readAll(file).samples).toEqual(SAMPLES);
  });

  it('uses one channel and reports it when the channels cancel each other out', () => {
    const opposite = (left: number): number[] => [left, -left];
    const tone = Array.from({ length: 24_000 }, (_, i) => Math.round(8000 * Math.sin(i / 9)) || 0);
    const file = makeWav({ channels: 2, data: makePcm(tone.flatMap(opposite)) });
    expect(readAll(file).samples).toEqual(tone);
    const reader = openWav(writeTemp(file));
    expect(reader.note).toMatch(/cancel each other out.*channel 1 alone is used/);
    reader.close();
    const louder = tone.flatMap((left) => [Math.round(left * 0.95), -left]);
    expect(readAll(makeWav({ channels: 2, data: makePcm(louder) })).samples).toEqual(
      tone.map((x) => -x || 0),
    );
  });

  it.each([
    ['equal', (left: number) => [left, left]],
    ['one silent', (left: number) => [0, left]],
    ['partly opposite', (left: number, i: number) => [left, -left + (i % 7) * 700]],
    ['silent', () => [0, 0]],
  ])('mixes channels that are %s, without a note', (_, frame) => {
    const tone = Array.from({ length: 24_000 }, (__, i) => Math.round(8000 * Math.sin(i / 9)));
    const reader = openWav(writeTemp(makeWav({ channels: 2, data: makePcm(tone.flatMap(frame)) })));
    expect(reader.note).toBeNull();
    const mixed = decodeFrames(reader.read(0, 24_000), reader.format);
    const mean = frame(tone[1000] ?? 0, 1000).reduce((a, b) => a + b) / 2 / 32_768;
    expect(mixed[1000]).toBeCloseTo(mean, 6);
    reader.close();
  });

  it('reads RF64, with the sizes that do not fit 32 bits in their own chunk', () => {
    const ds64 = Buffer.alloc(28);
    ds64.writeBigUInt64LE(BigInt(data.length), 8);
    const body = makeWav({
      data,
      dataSize: 0xffff_ffff,
      after: [makeChunk('LIST', Buffer.alloc(20))],
    }).subarray(12);
    const file = Buffer.concat([
      Buffer.from('RF64\xff\xff\xff\xffWAVE', 'latin1'),
      makeChunk('ds64', ds64),
      body,
    ]);
    expect(readAll(file).samples).toEqual(SAMPLES);
  });
});

describe('WAV problems', () => {
  it.each([
    ['an empty file', new Uint8Array(0), /is not a WAV file: it is empty/],
    ['text', Buffer.from('hello, this is text'), /is not a WAV file; convert it.*ffmpeg/],
    ['FLAC', Buffer.from('fLaC 0123456789'), /is not a WAV file \(it looks like FLAC\)/],
    ['MP3', Buffer.from('ID3 0123456789'), /it looks like MP3/],
    ['MP4', Buffer.from('\0\0\0\x20ftypM4A '), /it looks like MP4/],
    ['another RIFF', makeWav({}).fill('AVI ', 8, 12), /is not a WAV file/],
    ['a big-endian WAV', makeWav({ magic: 'RIFX' }), /big-endian/],
    ['a bare header', makeWav({}).subarray(0, 36), /damaged.*holds no sound/],
    ['a torn format', makeWav({}).subarray(0, 30), /damaged.*cut off/],
    [
      'data before its format',
      Buffer.concat([makeWav({}).subarray(0, 12), makeChunk('data', Buffer.alloc(8))]),
      /damaged/,
    ],
    ['a torn extensible format', Buffer.concat([makeWav({ extensible: true }).subarray(0, 50)]), /cut off/],
    ['ADPCM', makeWav({ tag: 2, bits: 4 }), /is compressed \(ADPCM\).*ffmpeg/],
    ['an unknown compression', makeWav({ tag: 4711 }), /is compressed \(format 4711\)/],
    ['no channels', makeWav({ channels: 0 }), /has 0 channels; 1 to 8/],
    ['too many channels', makeWav({ channels: 9 }), /has 9 channels; 1 to 8/],
    ['a rate of 0', makeWav({ rateHz: 0 }), /sample rate of 0 Hz/],
    ['a rate beyond reason', makeWav({ rateHz: 1_000_000 }), /sample rate of 1000000 Hz/],
    ['floats of 16 bits', makeWav({ tag: 3, bits: 16 }), /float samples of 2 bytes/],
    ['integers of 48 bits', makeWav({ bits: 48 }), /int samples of 6 bytes/],
    [
      'a block align of two channels for one',
      makeWav({ frameBytes: 4, data: Buffer.alloc(400) }),
      /contradicts itself: 16 bits.*4 bytes for 1 channel.*ffmpeg/,
    ],
    ['a block align of 0', makeWav({ frameBytes: 0 }), /contradicts itself/],
    ['half a byte', makeWav({ frameBytes: 3, channels: 2 }), /contradicts itself/],
    ['more bits than bytes', makeWav({ bits: 24, frameBytes: 2 }), /contradicts itself: 24 bits/],
    ['endless chunks', Buffer.concat([makeWav({}).subarray(0, 36), Buffer.alloc(80_000)]), /damaged/],
  ])('names the file and the fix for %s', (_, bytes, pattern) => {
    const path = writeTemp(bytes);
    const problem = problemOf(path);
    expect(problem.message).toMatch(pattern);
    expect(problem.message).toContain(path);
    expect(problem.code).toBe('format');
  });

  it('reports what is wrong with the path', () => {
    const folder = makeFolder();
    const cases = [
      [join(folder, 'none.wav'), 'not_found', /^cannot read .*none\.wav: there is no such file or folder/],
      [folder, 'not_found', /is a folder; name a WAV file/],
      [join(writeTemp(Buffer.alloc(1)), 'x.wav'), 'not_found', /a part of the path is a file/],
      ['/dev/null', 'format', /is not a regular file/],
    ] as const;
    for (const [path, code, message] of cases) {
      const problem = problemOf(path);
      expect(problem.code).toBe(code);
      expect(problem.message).toMatch(message);
    }
  });

  it('never fails in any other way, for any bytes', () => {
    const valid = makeWav({
      extensible: true,
      data: makeNumbered(40),
      before: [makeChunk('LIST', Buffer.alloc(7))],
    });
    const damage = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(damage, fc.nat(valid.length), (changes, length) => {
        const bytes = Buffer.from(valid);
        for (const [at, value] of changes) bytes[at] = value;
        const path = writeTemp(bytes.subarray(0, length));
        try {
          const reader = openWav(path);
          const raw = reader.read(0, reader.frames);
          expect(decodeFrames(raw, reader.format)).toHaveLength(reader.frames);
          reader.close();
        } catch (error) {
          expect(error).toBeInstanceOf(AudioFaultError);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('WAV header', () => {
  it('is the usual 44 bytes', () => {
    const header = Buffer.from(makeHeader({ rateHz: 24_000, dataBytes: 48_000 }));
    expect(header).toEqual(makeWav({ data: Buffer.alloc(48_000) }).subarray(0, 44));
    const stereo = makeHeader({ rateHz: 8000, dataBytes: 4, channels: 2 });
    expect(Buffer.from(stereo)).toEqual(
      makeWav({ rateHz: 8000, channels: 2, data: Buffer.alloc(4) }).subarray(0, 44),
    );
  });
});

describe('loading a whole file', () => {
  it('returns 16-bit mono bit-exact, at its own rate by default', async () => {
    const data = makeNumbered(5003);
    const loaded = await loadWav(writeTemp(makeWav({ rateHz: 22_050, data })));
    expect(loaded.rateHz).toBe(22_050);
    expect(Buffer.from(loaded.pcm)).toEqual(data);
  });

  it('converts to a wanted rate, to the exact length', async () => {
    const path = writeTemp(makeWav({ rateHz: 44_100, channels: 2, data: makeNumbered(44_100) }));
    const { pcm } = await loadWav(path, { rateHz: 24_000 });
    expect(pcm).toHaveLength(24_000);
  });

  it('refuses a file that would take too much memory', async () => {
    const path = writeTemp(makeWav({ data: makeNumbered(24_000) }));
    await expect(loadWav(path, { maxBytes: 24_000 })).rejects.toThrow(/too long: at most 0 s/);
    await expect(loadWav(path, { maxBytes: 48_000 })).resolves.toBeDefined();
  });
});
