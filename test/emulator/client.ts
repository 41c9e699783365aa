import { once } from 'node:events';
import { WebSocket } from 'ws';
import { z } from 'zod';
import {
  clockAnswerSchema,
  faultsAnswerSchema,
  metricsAnswerSchema,
  streamsAnswerSchema,
} from '../../src/emulator/reports.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import { wrongIn } from '../snake-case.ts';

/** A message of the service, as a client parses it. */
export interface Received {
  readonly message_type: string;
  readonly data: Record<string, unknown>;
}

/** A test's connection, with everything it has received. */
export interface TestClient {
  readonly socket: WebSocket;
  readonly received: Received[];
  /** Frames that were not messages. */
  readonly odd: string[];
  readonly closed: Promise<{ code: number; reason: string }>;
  send(type: string, data?: unknown): void;
  audio(pcm: Uint8Array): void;
  /** Waits for a message of this type. */
  next(type: string): Promise<Received>;
  /** All speech so far. */
  sound(): Buffer;
}

/** Whether a request met a closing connection: on a busy machine, an idle connection may close just as it is reused. */
function metClosingConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET';
}

/** Whether a connection timed out before anything was sent: on a busy machine, fetch stops trying after ten seconds. */
function neverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && cause.code === 'UND_ERR_CONNECT_TIMEOUT';
}

async function fetchPatiently(url: string, init: RequestInit): Promise<Response> {
  for (;;) {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (!neverConnected(error)) throw error;
    }
  }
}

/** Sends one JSON request with the API key; returns the parsed answer. */
export async function ask(
  emulator: Emulator,
  method: string,
  path: string,
  body?: unknown,
  credential = emulator.apiKey,
): Promise<{ status: number; json: unknown; headers: Headers }> {
  const init: RequestInit = {
    method,
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
  };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetchPatiently(emulator.url + path, init);
  const text = await response.text();
  const json: unknown = text === '' ? null : JSON.parse(text);
  const wrong = method === 'GET' && response.ok ? wrongWith(path, json) : null;
  if (wrong !== null) throw new Error(`${path}: ${wrong}`);
  return { status: response.status, json, headers: response.headers };
}

const REPORTS: Readonly<Record<string, z.ZodType>> = {
  '/emulator/streams': streamsAnswerSchema,
  '/emulator/metrics': metricsAnswerSchema,
  '/emulator/faults': faultsAnswerSchema,
  '/emulator/clock': clockAnswerSchema,
  '/emulator/settings': z.record(z.string(), z.unknown()),
};

/** The difference between a report of the emulator and its schema; null: none. */
function wrongWith(path: string, json: unknown): string | null {
  const schema = REPORTS[path.replace(/\?.*$/, '')];
  return schema === undefined ? null : wrongIn(schema, json);
}

export async function createToken(
  emulator: Emulator,
  fields: object = {},
): Promise<{ id: string; token: string }> {
  const create = () => ask(emulator, 'POST', '/session-storage/v2/sessions', { intent: 's2s', ...fields });
  const answer = await create().catch((error: unknown) => {
    if (!metClosingConnection(error)) throw error;
    return create();
  });
  return (answer.json as { data: { id: string; token: string } }).data;
}

export function streamUrl(emulator: Emulator, token = emulator.apiKey): string {
  return `${emulator.wsUrl}/streaming-api/abc_-9/v1/speech-to-speech/stream?token=${token}`;
}

function read(text: string): Received | null {
  try {
    const json = JSON.parse(text) as { message_type?: unknown; data?: unknown };
    return typeof json.message_type === 'string' ? (json as Received) : null;
  } catch {
    return null;
  }
}

/** Opens a stream; rejects if the service refuses it. */
export async function connect(url: string): Promise<TestClient> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const received: Received[] = [];
  const odd: string[] = [];
  let wake: () => void = () => {};
  socket.on('message', (frame: Buffer) => {
    const message = read(frame.toString());
    if (message === null) odd.push(frame.toString());
    else received.push(message);
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  socket.on('error', () => {});
  void closed.then(() => wake());
  await Promise.race([once(socket, 'open'), once(socket, 'error').then(([error]) => Promise.reject(error))]);
  return {
    socket,
    received,
    odd,
    closed,
    send(type, data = {}) {
      socket.send(JSON.stringify({ message_type: type, data }));
    },
    audio(pcm) {
      const data = { data: Buffer.from(pcm).toString('base64') };
      socket.send(JSON.stringify({ message_type: 'input_audio_data', data }));
    },
    async next(type) {
      for (;;) {
        const found = received.find((message) => message.message_type === type);
        if (found !== undefined) return found;
        if (socket.readyState === socket.CLOSED) throw new Error(`closed before ${type} came`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    sound: () =>
      Buffer.concat(
        received
          .filter((message) => message.message_type === 'output_audio_data')
          .map(({ data }) => Buffer.from(String(data['data']), 'base64')),
      ),
  };
}

/** The HTTP answer to a refused upgrade. */
export function refusedUpgrade(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; retryAfter: string | undefined }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    socket.on('error', () => {});
    socket.once('open', () => {
      socket.terminate();
      reject(new Error('the stream was not refused'));
    });
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      const retryAfter = response.headers['retry-after'];
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, retryAfter }));
    });
  });
}
