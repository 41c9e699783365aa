import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ConnectionType, Intent } from '../protocol/service/session.ts';
import { streamSecretOf } from './core/credentials.ts';
import type { Opening } from './core/opening.ts';
import {
  type Answer,
  PROBLEMS,
  type ProblemReason,
  problemData,
  refuse,
  webrtcDetail,
} from './core/refusal.ts';
import { isWebrtcPath } from './core/session-view.ts';
import { CLOSE } from './core/stream-words.ts';
import type { Door } from './listener.ts';
import { writeFrame } from './message-frame.ts';
import { answerFacts } from './request-log.ts';
import { StreamConnections, type StreamConnectionsSetup, type StreamEffect } from './stream-connections.ts';

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

/** Sends an HTTP answer on a socket that the HTTP server has handed over. */
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

export interface StreamGateSetup extends StreamConnectionsSetup {
  readonly nextInstance: () => string;
  readonly door: Door;
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

export function createStreamGate(setup: StreamGateSetup): StreamGate {
  return new WebSocketGate(setup);
}

class WebSocketGate implements StreamGate {
  private readonly setup: StreamGateSetup;
  private readonly connections: StreamConnections;
  private readonly server: WebSocketServer;
  /** All open sockets, including those of refused clients. */
  private readonly sockets = new Set<WebSocket>();

  constructor(setup: StreamGateSetup) {
    this.setup = setup;
    this.connections = new StreamConnections(setup);
    this.server = new WebSocketServer({
      noServer: true,
      maxPayload: MOST_FRAME_BYTES,
      perMessageDeflate: false,
      autoPong: false,
    });
    this.server.on('wsClientError', (problem, socket, request) => {
      this.turnAway(request, socket, refuse('malformed_handshake', setup.nextInstance(), [problem.message]));
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { clock, service, door, nextInstance } = this.setup;
    socket.on('error', () => {});
    const objection = door.objectTo(request);
    if (objection !== null)
      return this.turnAway(request, socket, refuse('foreign_host', nextInstance(), [objection]));
    const wanted = wantedOf(request.url ?? '/');
    if (wanted === null) return this.turnAway(request, socket, refuse('not_found', nextInstance()));
    const flaw = flawOf(request);
    if (flaw !== null) {
      const refusal = refuse('malformed_handshake', nextInstance(), [flaw]);
      return this.turnAway(request, socket, { ...refusal, headers: VERSION_HEADER });
    }
    const delayMs = service.faults.takeUpgradeDelayMs();
    if (delayMs === 0) this.open(request, socket, head, wanted);
    else clock.at(clock.now() + delayMs, () => this.open(request, socket, head, wanted));
  }

  perform(effect: StreamEffect): void {
    this.connections.perform(effect);
  }

  async close(): Promise<void> {
    const { clock } = this.setup;
    const gone = [...this.sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const socket of this.sockets) {
      socket.close(CLOSE.goingAway, 'the service shuts down');
      clock.at(clock.now() + 300, () => socket.terminate());
    }
    await Promise.all(gone);
    this.server.close();
  }

  /** Opens a stream in the service, and its socket; a refusal may need a socket too. */
  private open(request: IncomingMessage, socket: Duplex, head: Buffer, wanted: IssueCase): void {
    if (socket.destroyed) return;
    const { service, getRuntime, nextInstance } = this.setup;
    const { url, intent, transport } = wanted;
    const secret = url.searchParams.get('token') ?? streamSecretOf(request.headers.authorization);
    const { result: opening, waiting } = this.connections.collect(() =>
      getRuntime().act((now) => service.open({ secret, intent, transport }, now)),
    );
    if (opening.kind === 'refused' && opening.delivery === 'http')
      return this.turnAway(request, socket, refusalOf(opening, wanted, nextInstance()));
    this.noteOpening(opening, request.url ?? '/', wanted);
    if (opening.kind === 'refused')
      return this.handshake(request, socket, head, (webSocket) =>
        refuseOpen(webSocket, opening, wanted, this.setup),
      );
    let upgraded = false;
    socket.once('close', () => {
      if (upgraded) return;
      getRuntime().act((now) => service.disconnected(opening.stream, 1006, 'no handshake', 'network', now));
    });
    this.handshake(request, socket, head, (webSocket) => {
      upgraded = true;
      this.connections.attach(opening.stream, webSocket, socket, waiting);
    });
  }

  private handshake(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    use: (webSocket: WebSocket) => void,
  ): void {
    this.server.handleUpgrade(request, socket, head, (webSocket) => {
      this.sockets.add(webSocket);
      webSocket.once('close', () => this.sockets.delete(webSocket));
      use(webSocket);
    });
  }

  private turnAway(request: IncomingMessage, socket: Duplex, refusal: Answer): void {
    this.setup.requests.note({
      kind: 'stream',
      method: request.method ?? null,
      url: request.url ?? '/',
      ...answerFacts(refusal),
    });
    answer(socket, refusal);
  }

  private noteOpening(opening: Opening, url: string, wanted: IssueCase): void {
    const asked = { kind: 'stream', method: 'GET', url, status: 101 } as const;
    const { requests } = this.setup;
    if (opening.kind === 'opened') requests.note({ ...asked, stream: opening.stream });
    else requests.note({ ...asked, reason: opening.reason, detail: wordsOf(opening.reason, wanted) });
  }
}
