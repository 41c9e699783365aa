import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../ports/clock.ts';
import type { ConnectionType, Intent } from '../protocol/service/session.ts';
import { type Connection, type ConnectionEvents, createConnection } from './connection.ts';
import { streamSecretOf } from './core/credentials.ts';
import type { Effect } from './core/effect.ts';
import type { Opening } from './core/opening.ts';
import type { OutMessage } from './core/outbox.ts';
import {
  type Answer,
  PROBLEMS,
  type ProblemReason,
  problemData,
  refuse,
  webrtcDetail,
} from './core/refusal.ts';
import type { Service } from './core/service.ts';
import { isWebrtcPath } from './core/session-view.ts';
import { CLOSE } from './core/stream-words.ts';
import type { Door } from './listener.ts';
import { writeFrame } from './message-frame.ts';
import { answerFacts, type RequestLog } from './request-log.ts';
import type { Plumbing } from './reset.ts';
import type { Runtime } from './runtime.ts';

/** Largest frame (bytes): 512 KB of base64 and some JSON around it. A larger frame ends the connection. */
const MOST_FRAME_BYTES = 640 * 1024;
/** Time (ms) from a refusal as a message to the close. */
const REFUSAL_CLOSE_MS = 20;

/** Time (ms) that a refused client has to close its side. */
const ANSWER_LINGER_MS = 2000;

const STREAM_PATH =
  /^\/streaming-api\/[A-Za-z0-9._~-]+\/v1\/(speech-to-speech|speech-to-text|text-to-speech)\/stream$/;
const INTENTS: Readonly<Record<string, Intent>> = {
  'speech-to-speech': 's2s',
  'speech-to-text': 'stt',
  'text-to-speech': 'tts',
};

type StreamEffect = Exclude<Effect, { type: 'render' }>;
type Refused = Opening & { kind: 'refused' };

/** The WebSocket interface: opens or refuses streams, and carries out the service's effects on them. */
export interface StreamGate {
  /** Call it for each upgrade request of the HTTP server. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  perform(effect: StreamEffect): void;
  /** Closes all connections; resolves when their sockets are gone. */
  close(): Promise<void>;
}

/** Only path and query of an upgrade's address matter. */
const BASE = 'http://emulator.invalid';
const KEY = /^[A-Za-z0-9+/]{22}==$/;
const VERSION_HEADER = { 'Sec-WebSocket-Version': '13' } as const;

/** The problem of a WebSocket handshake (RFC 6455, 4.2.1), found before a stream is opened; null: none. */
function flawOf({ method, headers }: IncomingMessage): string | null {
  if (method !== 'GET') return 'the method must be GET';
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'Upgrade must be websocket';
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) return 'Sec-WebSocket-Key must be 16 bytes of base64';
  return headers['sec-websocket-version'] === '13' ? null : 'Sec-WebSocket-Version must be 13';
}

/** Answers on a socket that the HTTP server has handed over. */
export function answer(socket: Duplex, { status, body, headers = {} }: Answer): void {
  const text = body === null ? '' : JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(text === '' ? [] : ['Content-Type: application/json; charset=utf-8']),
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  // Read the rest of the request, so that the client can read the answer; disconnect a client that does not close.
  socket.resume();
  setTimeout(() => socket.destroy(), ANSWER_LINGER_MS).unref();
}

/** The parts of an upgrade's address. */
interface IssueCase {
  readonly url: URL;
  readonly intent: Intent;
  readonly transport: ConnectionType;
}

/** Reads an upgrade's address; null if the address does not exist. */
function wantedOf(address: string): IssueCase | null {
  if (!URL.canParse(address, BASE)) return null;
  const url = new URL(address, BASE);
  if (isWebrtcPath(url.pathname)) return { url, intent: 's2s', transport: 'webrtc' };
  const intent = INTENTS[STREAM_PATH.exec(url.pathname)?.[1] ?? ''];
  return intent === undefined ? null : { url, intent, transport: 'ws' };
}

const wordsOf = (reason: ProblemReason, { transport }: IssueCase): string =>
  transport === 'webrtc' ? webrtcDetail(reason) : PROBLEMS[reason].detail;

/** The HTTP answer to a refused upgrade. */
function refusalOf({ reason, bare, given }: Refused, wanted: IssueCase, instance: string): Answer {
  const refusal = refuse(reason, instance, [wordsOf(reason, wanted)], given.status);
  const wait = given.retry_after_s;
  return {
    ...(bare ? { ...refusal, body: null } : refusal),
    headers: wait === undefined ? {} : { 'Retry-After': String(wait) },
  };
}

export interface StreamGateSetup {
  readonly clock: Clock;
  readonly service: Service;
  readonly getRuntime: () => Runtime;
  readonly nextInstance: () => string;
  readonly door: Door;
  readonly plumbing: Plumbing;
  readonly requests: RequestLog;
}

/** Refuses a stream after the upgrade: with a message and a close, or with a close alone. */
function refuseOpen(
  socket: WebSocket,
  { reason, delivery }: Refused,
  wanted: IssueCase,
  { clock, service }: Pick<StreamGateSetup, 'clock' | 'service'>,
): void {
  socket.on('error', () => {});
  const silent = reason === 'rate_limit_exceeded';
  if (delivery === 'message') {
    const data = problemData(reason, wordsOf(reason, wanted));
    socket.send(writeFrame({ type: 'error', data }, service.choices.dataForm, 0));
  }
  clock.at(clock.now() + (delivery === 'message' ? REFUSAL_CLOSE_MS : 0), () => {
    socket.close(CLOSE.policy, silent ? '' : reason);
    const cancel = clock.at(clock.now() + 1000, () => socket.terminate());
    socket.once('close', cancel);
  });
}

function noteMessage(requests: RequestLog, stream: string, { type, data }: OutMessage): void {
  if (type !== 'error' && type !== 'warning') return;
  const { code, desc, message, param } = data;
  const where = typeof param === 'string' ? `${param}: ` : '';
  requests.note({
    kind: 'message',
    stream,
    reason: String(code),
    detail: `${where}${desc ?? message ?? ''}`,
  });
}

export function createStreamGate(setup: StreamGateSetup): StreamGate {
  const { clock, service, getRuntime, nextInstance, door, plumbing, requests } = setup;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MOST_FRAME_BYTES,
    perMessageDeflate: false,
    autoPong: false,
  });
  const turnAway = (request: IncomingMessage, socket: Duplex, refusal: Answer): void => {
    requests.note({
      kind: 'stream',
      method: request.method ?? null,
      url: request.url ?? '/',
      ...answerFacts(refusal),
    });
    answer(socket, refusal);
  };
  server.on('wsClientError', (problem, socket, request) => {
    turnAway(request, socket, refuse('malformed_handshake', nextInstance(), [problem.message]));
  });
  const connections = new Map<string, Connection>();
  const sockets = new Set<WebSocket>();
  /** Effects on a stream during its opening, before it has a connection. */
  let early: StreamEffect[] | null = null;

  const keep = (socket: WebSocket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };

  const attach = (socket: WebSocket, raw: Duplex, stream: string): void => {
    const { choices } = service;
    const events: ConnectionEvents = {
      frame(frame) {
        getRuntime().act((now) => {
          if (frame.kind === 'audio') service.hear(stream, frame.pcm, frame.chars, now);
          else if (frame.kind === 'message') service.receive(stream, frame.json, now);
          else service.receiveJunk(stream, frame.why, now);
        });
      },
      gone(code, reason, by) {
        const detail = reason === '' ? `by the ${by}` : `${reason}, by the ${by}`;
        if (connections.delete(stream)) requests.note({ kind: 'close', stream, status: code, detail });
        getRuntime().act((now) => service.disconnected(stream, code, reason, by, now));
      },
    };
    connections.set(stream, createConnection(socket, raw, clock, choices, events, plumbing.reset));
  };

  const perform = (effect: StreamEffect): void => {
    const connection = connections.get(effect.stream);
    if (connection === undefined) return void early?.push(effect);
    switch (effect.type) {
      case 'send':
        noteMessage(requests, effect.stream, effect.message);
        return connection.send(effect.message);
      case 'sendRaw':
        return connection.sendRaw(effect.payload, effect.as);
      case 'link':
        return connection.setLink(effect.link);
      case 'close':
        connections.delete(effect.stream);
        requests.note({
          kind: 'close',
          stream: effect.stream,
          status: effect.code,
          detail: `${effect.reason}, by the service`,
        });
        return connection.close(effect.code, effect.reason);
      case 'reset':
        connections.delete(effect.stream);
        return connection.reset();
      default:
        return effect satisfies never;
    }
  };

  const decide = (request: IncomingMessage, socket: Duplex, head: Buffer, wanted: IssueCase): void => {
    if (socket.destroyed) return;
    const { url, intent, transport } = wanted;
    const secret = url.searchParams.get('token') ?? streamSecretOf(request.headers.authorization);
    early = [];
    const opening = getRuntime().act((now) => service.open({ secret, intent, transport }, now));
    const waiting = early;
    early = null;
    if (opening.kind === 'refused' && opening.delivery === 'http') {
      return turnAway(request, socket, refusalOf(opening, wanted, nextInstance()));
    }
    const asked = { kind: 'stream', method: 'GET', url: request.url ?? '/', status: 101 } as const;
    if (opening.kind === 'opened') requests.note({ ...asked, stream: opening.stream });
    else requests.note({ ...asked, reason: opening.reason, detail: wordsOf(opening.reason, wanted) });
    let upgraded = false;
    socket.once('close', () => {
      if (upgraded || opening.kind === 'refused') return;
      getRuntime().act((now) => service.disconnected(opening.stream, 1006, 'no handshake', 'network', now));
    });
    server.handleUpgrade(request, socket, head, (webSocket) => {
      upgraded = true;
      keep(webSocket);
      if (opening.kind === 'refused') refuseOpen(webSocket, opening, wanted, setup);
      else {
        attach(webSocket, socket, opening.stream);
        for (const effect of waiting) perform(effect);
      }
    });
  };

  return {
    upgrade(request, socket, head) {
      socket.on('error', () => {});
      const objection = door.objectTo(request);
      if (objection !== null)
        return turnAway(request, socket, refuse('foreign_host', nextInstance(), [objection]));
      const wanted = wantedOf(request.url ?? '/');
      if (wanted === null) return turnAway(request, socket, refuse('not_found', nextInstance()));
      const flaw = flawOf(request);
      if (flaw !== null) {
        return turnAway(request, socket, {
          ...refuse('malformed_handshake', nextInstance(), [flaw]),
          headers: VERSION_HEADER,
        });
      }
      const delayMs = service.faults.takeUpgradeDelayMs();
      if (delayMs === 0) decide(request, socket, head, wanted);
      else clock.at(clock.now() + delayMs, () => decide(request, socket, head, wanted));
    },
    perform,
    async close() {
      const gone = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of sockets) {
        socket.close(CLOSE.goingAway, 'the service shuts down');
        clock.at(clock.now() + 300, () => socket.terminate());
      }
      await Promise.all(gone);
      server.close();
    },
  };
}
