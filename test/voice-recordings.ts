/** Recordings for a cloned voice, and files that only look like one. */
import { makeHeader } from '../src/adapters/audio/wav.ts';
import { makeSpeech } from './conformance/speech.ts';

const RATE_HZ = 24_000;

/** Syllables with pauses: 6 s of sound in each 8 s. */
export function spokenWav(seconds: number): Buffer {
  const pcm = Buffer.alloc(seconds * RATE_HZ * 2);
  const sentence = makeSpeech(6);
  for (let at = 0; at < pcm.length; at += 8 * RATE_HZ * 2) pcm.set(sentence.subarray(0, pcm.length - at), at);
  return wavOf(pcm);
}

export function wavOf(pcm: Uint8Array, promisedBytes = pcm.length): Buffer {
  return Buffer.concat([makeHeader({ rateHz: RATE_HZ, dataBytes: promisedBytes }), pcm]);
}

/** The same recording with each sample changed. */
export function changed(wav: Buffer, change: (sample: number) => number): Buffer {
  const made = Buffer.from(wav);
  for (let at = 44; at + 1 < made.length; at += 2) {
    const value = Math.max(-32_768, Math.min(32_767, Math.round(change(made.readInt16LE(at)))));
    made.writeInt16LE(value, at);
  }
  return made;
}

/** White noise of this amplitude (steps of 16 bits), the same each time. */
export function noise(amplitude: number): () => number {
  let state = 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state / 1_073_741_824 - 1) * amplitude;
  };
}

/** MPEG 1 layer III, 128 kbit/s, 44.1 kHz; the frames hold silence. */
export function mp3Of(seconds: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x00]);
  return Buffer.concat(Array.from({ length: Math.ceil((seconds * 44_100) / 1152) }, () => frame));
}

/** STREAMINFO alone, which holds the length. */
export function flacOf(seconds: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4096, 0);
  info.writeUInt16BE(4096, 2);
  // 20 bits of rate, 3 of channels, 5 of sample size, 36 of samples.
  info.writeBigUInt64BE((44_100n << 44n) | (15n << 36n) | BigInt(Math.round(seconds * 44_100)), 10);
  return Buffer.concat([Buffer.from('fLaC'), Buffer.from([0x80, 0, 0, 34]), info, Buffer.alloc(100)]);
}

/** @param brand `M4A ` for sound alone, `isom` for a video */
export function mp4Of(brand: string, seconds: number): Buffer {
  const header = Buffer.alloc(100);
  header.writeUInt32BE(1000, 12);
  header.writeUInt32BE(seconds * 1000, 16);
  return Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\0\0${brand}`, 'latin1')),
    box('moov', Buffer.concat([box('mvhd', header), soundTrack(seconds)])),
    box('mdat', Buffer.alloc(100)),
  ]);
}

function soundTrack(seconds: number): Buffer {
  const media = Buffer.alloc(24);
  media.writeUInt32BE(44_100, 12);
  media.writeUInt32BE(seconds * 44_100, 16);
  const handler = Buffer.alloc(25);
  handler.write('soun', 8, 'latin1');
  const entry = Buffer.alloc(28);
  entry.writeUInt16BE(1, 6);
  entry.writeUInt16BE(1, 16);
  entry.writeUInt16BE(16, 18);
  entry.writeUInt32BE(44_100 * 65_536, 24);
  const count = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);
  const none = Buffer.alloc(8);
  const tables = [box('stsd', Buffer.concat([count, box('mp4a', entry)])), box('stts', none)];
  const places = [box('stsc', none), box('stsz', Buffer.alloc(12)), box('stco', none)];
  const table = box('stbl', Buffer.concat([...tables, ...places]));
  const track = Buffer.concat([box('mdhd', media), box('hdlr', handler), box('minf', table)]);
  return box('trak', Buffer.concat([box('tkhd', Buffer.alloc(84)), box('mdia', track)]));
}

function box(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

const EBML_HEAD = [0x1a, 0x45, 0xdf, 0xa3, 0x87, 0x42, 0x82, 0x84];
export const WEBM = Buffer.concat([Buffer.from(EBML_HEAD), Buffer.from('webm'), Buffer.alloc(200)]);
/** A program stream of MPEG 2. */
export const MPEG = Buffer.concat([Buffer.from([0, 0, 1, 0xba, 0x44, 0, 4, 0, 4, 1]), Buffer.alloc(200)]);
export const OGG = Buffer.concat([
  Buffer.from('OggS\0\x02', 'latin1'),
  Buffer.alloc(20),
  Buffer.from([1, 0x13]),
  Buffer.from('OpusHead\x01\x01\0\0\0\0\0\0\0\0\0', 'latin1'),
  Buffer.alloc(200),
]);
export const PAGE = Buffer.from('<html><body>404 Not Found</body></html>\n');
