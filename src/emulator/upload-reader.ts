import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { examineSample } from '../adapters/voice/voice-sample.ts';
import type { Upload } from './core/voice-api.ts';
import type { SampleFacts } from './core/voices.ts';

/** An upload that is not a valid form, or has too many or too long parts. */
export class MalformedUpload extends Error {}

const MOST_FIELDS = 40;
const MOST_FIELD_BYTES = 64 * 1024;

/**
 * Reads a multipart upload: the sequence of its parts, and the properties of the file. The file itself is not kept.
 * @throws MalformedUpload
 */
export function readUpload(request: IncomingMessage, limitBytes: number): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = [];
    const files: { field: string; fieldsBefore: number; parts: Buffer[] }[] = [];
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
      const parts: Buffer[] = [];
      const fieldsBefore = fields.length;
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('limit', () => {
        tooLarge = true;
      });
      stream.on('end', () => files.push({ field, fieldsBefore, parts }));
    });
    parser.once('finish', () => {
      const examined = files.map(async ({ parts, ...file }) => ({
        ...file,
        facts: await factsOf(Buffer.concat(parts)),
      }));
      Promise.all(examined).then((all) => resolve({ fields, files: all, tooLarge }), reject);
    });
    parser.once('error', () => fail('the form is cut off or malformed'));
    request.once('aborted', () => fail('the upload was interrupted'));
    request.pipe(parser);
  });
}

async function factsOf(file: Buffer): Promise<SampleFacts> {
  const { kind, ...found } = await examineSample(file);
  return { ...found, bytes: file.length, types: kind?.types ?? [] };
}
