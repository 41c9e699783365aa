import { describe, expect, it } from 'vitest';
import { makeHeader } from '../../../src/adapters/audio/wav.ts';
import { decodeSound, takePcm } from '../../../src/adapters/stream/sound-payload.ts';
import { makeSpeech } from '../../conformance/speech.ts';
import { connected } from './peer.ts';

const PCM = Buffer.from(makeSpeech(0.32));
const BASE64 = PCM.toString('base64');
const wav = (dataBytes = PCM.length): Buffer =>
  Buffer.concat([makeHeader({ rateHz: 24_000, dataBytes }), PCM]);

/** A WAV header with one field of its format changed. */
function changed(at: number, value: number): Buffer {
  const made = wav();
  made.writeUInt16LE(value, at);
  return made;
}

describe('sound in another wrapping', () => {
  it.each([
    ['a data URI', `data:audio/wav;base64,${BASE64}`],
    ['a data URI with parameters', `data:audio/pcm;rate=24000;base64,${BASE64}`],
    ['a data URI without a type', `data:;base64,${BASE64}`],
    ['base64 in lines', BASE64.replace(/(.{76})/g, '$1\r\n')],
    ['base64 for addresses', PCM.toString('base64url')],
    ['base64 of a WAV', wav().toString('base64')],
  ])('is read when it is %s', (_name, text) => {
    const { pcm, problem } = decodeSound(text);
    expect(problem).toBeNull();
    expect(Buffer.compare(pcm, PCM)).toBe(0);
  });

  it.each([
    ['its size', wav()],
    ['no size', wav(0)],
    ['the size of the whole stream', wav(10_000_000)],
    ['a size that the writer never learnt', wav(0xffff_ffff - 36)],
  ])('is read without its WAV header, which says %s', (_name, sound) => {
    expect(Buffer.compare(takePcm(sound).pcm, PCM)).toBe(0);
  });
});

describe('sound that is not the declared PCM', () => {
  it.each([
    ['text that is not base64', 'what was said, in words!'],
    ['base64 with a foreign letter', `${BASE64.slice(0, 100)}ñ${BASE64.slice(100)}`],
    ['a data URI that is not base64', 'data:audio/wav,%00%01'],
  ])('is refused when it is %s', (_name, text) => {
    expect(decodeSound(text)).toEqual({
      pcm: Buffer.alloc(0),
      problem: 'output_audio_data with data that is not base64',
    });
  });

  it.each([
    ['a WAV of float samples', changed(20, 3)],
    ['a WAV of two channels', changed(22, 2)],
    ['a WAV of another rate', changed(24, 16_000)],
    ['a WAV without sound', wav().subarray(0, 36)],
    ['a text', Buffer.from(Buffer.alloc(200, 7).toString('base64'))],
    ['Ogg', Buffer.from('OggS and more')],
    ['FLAC', Buffer.from('fLaC and more')],
    ['MP3', Buffer.from('ID3\x04\0\0\0\0\0\0')],
    ['WebM', Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0, 0])],
  ])('is refused with the declared form named when it is %s', (_name, sound) => {
    const { pcm, problem } = takePcm(sound);
    expect(pcm.length).toBe(0);
    expect(problem).toMatch(/^output_audio_data with .*, not the declared PCM \(16-bit, mono, 24000 Hz\)$/);
  });

  it('passes as it came when nothing shows what it is', () => {
    expect(takePcm(PCM)).toEqual({ pcm: PCM, problem: null });
    expect(takePcm(Buffer.alloc(0)).problem).toBeNull();
    expect(decodeSound('')).toEqual({ pcm: Buffer.alloc(0), problem: null });
  });
});

describe('a stream', () => {
  it.each([
    ['as a data URI', (piece: Buffer) => `data:audio/wav;base64,${piece.toString('base64')}`],
    [
      'with a WAV header on each piece',
      (piece: Buffer) =>
        Buffer.concat([makeHeader({ rateHz: 24_000, dataBytes: piece.length }), piece]).toString('base64'),
    ],
  ])('delivers sound that comes %s', async (_name, encode) => {
    const { said, until, service } = await connected();
    const pieces = [PCM.subarray(0, 5000), PCM.subarray(5000)];
    for (const [index, piece] of pieces.entries())
      service.send(
        JSON.stringify({
          message_type: 'output_audio_data',
          data: { data: encode(piece), transcription_id: 't', last_chunk: index === 1 },
        }),
      );
    service.close(1000);
    await until('ended');
    const sound = said.flatMap(([word, event]) => (word === 'spoke' ? [(event as { pcm: Buffer }).pcm] : []));
    expect(Buffer.compare(Buffer.concat(sound), PCM)).toBe(0);
    expect(said.filter(([word]) => word === 'unreadable')).toEqual([]);
  });

  it('reports sound in a container, and that the sentence ends with it', async () => {
    const { said, until, service } = await connected();
    service.send(
      JSON.stringify({
        message_type: 'output_audio_data',
        data: {
          data: Buffer.concat([Buffer.from('OggS'), PCM]).toString('base64'),
          transcription_id: 't',
          last_chunk: true,
        },
      }),
    );
    await until('unreadable');
    expect(said.slice(-2)).toEqual([
      ['spoke', expect.objectContaining({ last: true, pcm: Buffer.alloc(0) })],
      ['unreadable', 'sound', expect.stringContaining('output_audio_data with Ogg')],
    ]);
  });
});
