import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { Upload } from './core/voice-api.ts';
import type { SampleFacts } from './core/voices.ts';

/** A form that is no form, or one with too many or too long parts. */
export class MalformedUpload extends Error {}

const MOST_FIELDS = 40;
const MOST_FIELD_BYTES = 64 * 1024;
const WAV_HEADER_BYTES = 64;

/** Length of the sound in a WAV, by its header; null for other files. */
function secondsOf(head: Buffer, bytes: number): number | null {
  const isWav =
    head.length >= 44 &&
    head.toString('latin1', 0, 4) === 'RIFF' &&
    head.toString('latin1', 8, 12) === 'WAVE';
  if (!isWav) return null;
  const bytesPerSecond = head.readUInt32LE(28);
  return bytesPerSecond === 0 ? null : (bytes - 44) / bytesPerSecond;
}

/**
 * Reads a multipart upload without keeping the file: the order of its parts and the file's size and length.
 * @throws MalformedUpload
 */
export function readUpload(request: IncomingMessage, limitBytes: number): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = [];
    const files: { field: string; fieldsBefore: number; facts: SampleFacts }[] = [];
    let tooLarge = false;
    const fail = (why: string): void => {
      request.unpipe();
      request.resume();
      reject(new MalformedUpload(why));
    };
    const type = request.headers['content-type'];
    if (type === undefined || !type.toLowerCase().startsWith('multipart/form-data')) {
      fail('send multipart/form-data');
      return;
    }
    let parser: BusboyInstance;
    try {
      parser = new Busboy({
        headers: { ...request.headers, 'content-type': type },
        limits: {
          fields: MOST_FIELDS,
          fieldSize: MOST_FIELD_BYTES,
          files: 4,
          fileSize: limitBytes,
          headerPairs: 100,
        },
      });
    } catch {
      fail('the multipart boundary is missing');
      return;
    }
    parser.on('field', (name: string, value: string) => fields.push([name, value]));
    parser.on('file', (field: string, stream: BusboyFileStream) => {
      let bytes = 0;
      let head = Buffer.alloc(0);
      const fieldsBefore = fields.length;
      stream.on('data', (part: Buffer) => {
        if (head.length < WAV_HEADER_BYTES) head = Buffer.concat([head, part.subarray(0, WAV_HEADER_BYTES)]);
        bytes += part.byteLength;
      });
      stream.on('limit', () => {
        tooLarge = true;
      });
      stream.on('end', () =>
        files.push({ field, fieldsBefore, facts: { bytes, seconds: secondsOf(head, bytes) } }),
      );
    });
    parser.once('finish', () => resolve({ fields, files, tooLarge }));
    parser.once('error', () => fail('the form is cut off or malformed'));
    request.once('aborted', () => fail('the upload was broken off'));
    request.pipe(parser);
  });
}
