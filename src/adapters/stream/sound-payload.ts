import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import { AudioFaultError } from '../audio/fault.ts';
import { parse, type WavFormat } from '../audio/wav-layout.ts';

/** Sound of a message, as the declared PCM. Anything else leaves `pcm` empty, and `problem` says what it is. */
export interface Payload {
  readonly pcm: Buffer;
  readonly problem: string | null;
}

const ASKED = `not the declared PCM (16-bit, mono, ${OUTPUT_RATE_HZ} Hz)`;
/** Other containers by their first bytes. The chance that sound begins with them is one in four billion. */
const CONTAINERS: readonly (readonly [Buffer, string])[] = [
  [Buffer.from('OggS'), 'Ogg'],
  [Buffer.from('fLaC'), 'FLAC'],
  [Buffer.from('ID3\x03'), 'MP3'],
  [Buffer.from('ID3\x04'), 'MP3'],
  [Buffer.from('RIFX'), 'a big-endian WAV'],
  [Buffer.from('FORM'), 'AIFF'],
  [Buffer.from('.snd'), 'AU'],
  [Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), 'WebM'],
];
/** A payload of at least this length (bytes) is a text if it has only printable characters; a shorter one may be sound. */
const TEXT_BYTES = 64;
const RIFF = Buffer.from('RIFF');

/** A base64 text, or a data URI that holds one. */
export function decodeSound(text: string): Payload {
  const digits = text.replace(/^\s*data:[^,]*;base64,/i, '').replace(/\s+/g, '');
  // The decoder silently skips other characters, and the decoded rest is noise.
  if (!/^[\w+/-]*={0,2}$/.test(digits)) return refused('with data that is not base64');
  return takePcm(Buffer.from(digits, 'base64'));
}

/** Extracts the PCM from decoded data: a service may put a WAV header before each piece. */
export function takePcm(sound: Buffer): Payload {
  if (isText(sound)) return refused(`with a text, ${ASKED}`);
  const other = CONTAINERS.find(([magic]) => startsWith(sound, magic));
  if (other !== undefined) return refused(`with ${other[1]}, ${ASKED}`);
  if (!startsWith(sound, RIFF) || sound.toString('latin1', 8, 12) !== 'WAVE')
    return { pcm: sound, problem: null };
  try {
    const { format, dataAt, dataBytes } = parse((at, bytes) => sound.subarray(at, at + bytes), 'the sound');
    if (!isDeclared(format)) return refused(`with a WAV of another format, ${ASKED}`);
    return { pcm: sound.subarray(dataAt, dataAt + dataBytes(sound.byteLength)), problem: null };
  } catch (error) {
    if (error instanceof AudioFaultError) return refused(`with a WAV that cannot be read, ${ASKED}`);
    throw error;
  }
}

function isDeclared({ encoding, sampleBytes, channels, rateHz }: WavFormat): boolean {
  return encoding === 'int' && sampleBytes === 2 && channels === 1 && rateHz === OUTPUT_RATE_HZ;
}

/** Whether it is base64, hexadecimal digits or JSON: sound of this length always has other bytes. */
function isText(sound: Buffer): boolean {
  return sound.byteLength >= TEXT_BYTES && sound.every((byte) => byte >= 0x20 && byte < 0x7f);
}

function startsWith(sound: Buffer, magic: Buffer): boolean {
  return sound.byteLength >= magic.byteLength && magic.equals(sound.subarray(0, magic.byteLength));
}

function refused(how: string): Payload {
  return { pcm: Buffer.alloc(0), problem: `output_audio_data ${how}` };
}
