import { deflateSync } from 'node:zlib';
import { DEEPEST_JSON, isObject, readJson } from '../protocol/common/json.ts';
import { base64Length, decodeBase64, encodeBase64 } from './base64.ts';
import type { Choices } from './core/choices.ts';
import type { OutMessage } from './core/outbox.ts';

function encode(pcm: Uint8Array, packed: boolean): string {
  const bytes = packed ? deflateSync(pcm) : Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return bytes.toString('base64');
}

const TAIL = Buffer.from('"}}');

/** Writes a message of plain sound as the bytes of its text frame, without creating a string. */
function writeSound({ type, data }: OutMessage, pcm: Uint8Array): Uint8Array {
  const text = JSON.stringify(data);
  const fields = `${text.slice(0, -1)}${text === '{}' ? '' : ','}"data":"`;
  const head = Buffer.from(`{"message_type":${JSON.stringify(type)},"data":${fields}`);
  const frame = Buffer.allocUnsafe(head.length + base64Length(pcm.byteLength) + TAIL.length);
  frame.set(head);
  frame.set(TAIL, encodeBase64(pcm, frame, head.length));
  return frame;
}

/** Adds base64 as `data` to an object that is already written. Base64 needs no escapes, and most of the output is sound. */
function withSound(object: string, base64: string): string {
  return `${object.slice(0, -1)}${object === '{}' ? '' : ','}"data":"${base64}"}`;
}

/**
 * Writes a message as a JSON text frame, with any sound in base64. In the usual form (`object`, not packed), a frame with sound
 * is returned as UTF-8 bytes, otherwise as a string.
 * @param inTurn number of the message on the stream: with `mixed`, every second one carries its data as a string
 */
export function writeFrame(
  message: OutMessage,
  form: Choices['dataForm'],
  inTurn: number,
): string | Uint8Array {
  const { type, pcm, packed } = message;
  if (pcm !== undefined && packed !== true && form === 'object') return writeSound(message, pcm);
  const text = JSON.stringify(message.data);
  const data = pcm === undefined ? text : withSound(text, encode(pcm, packed === true));
  const asString = form === 'string' || (form === 'mixed' && inTurn % 2 === 1);
  return `{"message_type":${JSON.stringify(type)},"data":${asString ? JSON.stringify(data) : data}}`;
}

/** A client's frame after parsing. */
export type ReadFrame =
  | { kind: 'audio'; pcm: Uint8Array; chars: number }
  | { kind: 'message'; json: unknown }
  | { kind: 'junk'; why: string };

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

const AUDIO_HEAD = /^\s*\{\s*"message_type"\s*:\s*"input_audio_data"\s*,\s*"data"\s*:\s*\{\s*"data"\s*:\s*"/;
const AUDIO_TAIL = /"\s*\}\s*\}\s*$/;
/** Longest JSON (characters) before the base64 in a frame of sound, as clients write it. */
const HEAD_CHARS = 120;
/** Longest JSON (characters) after the base64. */
const TAIL_CHARS = 24;

/** Reads the sound of a frame in the usual form, without creating strings; null for any other frame. */
function readSound(frame: Buffer): ReadFrame | null {
  const from = AUDIO_HEAD.exec(frame.toString('latin1', 0, HEAD_CHARS))?.[0].length;
  if (from === undefined) return null;
  const tail = AUDIO_TAIL.exec(frame.toString('latin1', Math.max(from, frame.length - TAIL_CHARS)));
  if (tail === null) return null;
  const to = frame.length - tail[0].length;
  const pcm = decodeBase64(frame, from, to);
  return pcm === null ? null : { kind: 'audio', pcm, chars: to - from };
}

const NESTED: ReadFrame = {
  kind: 'junk',
  why: `the message is nested deeper than ${DEEPEST_JSON} levels`,
};

/** Reads a client's frame. Clients may also send `data` as a JSON string. */
export function readFrame(frame: Buffer, isBinary: boolean): ReadFrame {
  if (isBinary) return { kind: 'junk', why: 'messages must be JSON in text frames' };
  const sound = readSound(frame);
  if (sound !== null) return sound;
  const read = readJson(frame.toString('utf8'));
  if (read.kind === 'nested') return NESTED;
  const json = read.kind === 'json' ? read.value : null;
  if (!isObject(json)) return { kind: 'junk', why: 'the frame is not a JSON object' };
  const inner = typeof json['data'] === 'string' ? readJson(json['data']) : null;
  if (inner?.kind === 'nested') return NESTED;
  const data = inner === null ? json['data'] : inner.kind === 'json' ? inner.value : undefined;
  if (json['message_type'] !== 'input_audio_data' || !isObject(data) || typeof data['data'] !== 'string')
    return { kind: 'message', json: { ...json, data } };
  const base64 = data['data'];
  if (!BASE64.test(base64)) return { kind: 'junk', why: 'data.data is not base64' };
  return { kind: 'audio', pcm: Buffer.from(base64, 'base64'), chars: base64.length };
}
