import { deflateSync } from 'node:zlib';
import type { Choices } from './core/choices.ts';
import type { OutMessage } from './core/outbox.ts';

function encode(pcm: Uint8Array, packed: boolean): string {
  const bytes = packed ? deflateSync(pcm) : Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return bytes.toString('base64');
}

/** Puts base64, which needs no escapes, at `data` of an object that is written already: sound is most of what goes out. */
function withSound(object: string, base64: string): string {
  return `${object.slice(0, -1)}${object === '{}' ? '' : ','}"data":"${base64}"}`;
}

/**
 * Writes a message as a text frame, its sound as base64.
 * @param inTurn numbers the stream's messages: with `mixed` every second one carries its data as a string
 */
export function writeFrame(message: OutMessage, form: Choices['dataForm'], inTurn: number): string {
  const { type, pcm, packed } = message;
  const text = JSON.stringify(message.data);
  const data = pcm === undefined ? text : withSound(text, encode(pcm, packed === true));
  const asString = form === 'string' || (form === 'mixed' && inTurn % 2 === 1);
  return `{"message_type":${JSON.stringify(type)},"data":${asString ? JSON.stringify(data) : data}}`;
}

/** What a client's frame turned out to be. */
export type ReadFrame =
  | { kind: 'audio'; pcm: Uint8Array; chars: number }
  | { kind: 'message'; json: unknown }
  | { kind: 'junk'; why: string };

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deeper JSON than this is nobody's task; writing it out again could exhaust the stack. */
const MOST_DEPTH = 64;

/** Whether JSON is nested no deeper than is sensible; looks level by level, without recursion. */
function isShallow(json: unknown): boolean {
  let level: unknown[] = [json];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH) return false;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return true;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a client's frame. Clients, too, may send `data` as a JSON string. */
export function readFrame(frame: Buffer, isBinary: boolean): ReadFrame {
  if (isBinary) return { kind: 'junk', why: 'messages are JSON in text frames' };
  const json = parse(frame.toString('utf8'));
  if (!isRecord(json)) return { kind: 'junk', why: 'the frame is not a JSON object' };
  const data = typeof json['data'] === 'string' ? parse(json['data']) : json['data'];
  if (json['message_type'] !== 'input_audio_data' || !isRecord(data) || typeof data['data'] !== 'string') {
    if (!isShallow(data))
      return { kind: 'junk', why: `the message is nested deeper than ${MOST_DEPTH} levels` };
    return { kind: 'message', json: { ...json, data } };
  }
  const base64 = data['data'];
  if (!BASE64.test(base64)) return { kind: 'junk', why: 'data.data is not base64' };
  return { kind: 'audio', pcm: Buffer.from(base64, 'base64'), chars: base64.length };
}
