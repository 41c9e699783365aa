import { type RawData, WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import {
  NO_CONNECTION,
  type OpenStream,
  type StreamConnection,
  type StreamListener,
  type StreamTarget,
  type UnreadableWhat,
} from '../../ports/stream.ts';
import type { ClientMessage } from '../../protocol/service/client-message.ts';
import { describeBreach, describeUnreached, isTooEarly } from './connect-error.ts';
import { createFloodMeter, FLOOD } from './flood-meter.ts';
import { endedOf, eventOf, spokeOf, utteranceOf } from './server-event.ts';
import { parseServerFrame, type ServerMessage } from './server-message.ts';
import { type CleanText, createTextCleaner } from './service-text.ts';
import { CUT, createSoundFrames, cutSound } from './sound-frame.ts';
import { decodeSound, type Payload, takePcm } from './sound-payload.ts';
import { speechTask } from './task.ts';
import { readUpgradeRefusal } from './upgrade-refusal.ts';
import { createWholeSamples, type WholeSamples } from './whole-samples.ts';

/** Largest frame (MB): no frame of the service comes near it, so a larger one is a fault or an attack. */
const LARGEST_FRAME_MB = 8;
/** Timeout of the handshake (milliseconds). The core has a shorter one; this one only frees the socket. */
const HANDSHAKE_LIMIT_MS = 30_000;

/** A peer that was heard within this time (milliseconds) is alive, and gets no ping. */
const SIGN_OF_LIFE_MS = 1500;

const AS_TEXT = { binary: false } as const;

export interface WebSocketStreamOptions {
  readonly clock: Clock;
  /** Certificate authority of the service, PEM; by default the system's. */
  readonly ca?: Buffer;
  /** The service's certificate is not valid yet: the clock may be slow. */
  readonly tooEarly?: () => void;
}

/** Streams over WebSocket (docs/service.md 4.7). Makes no decisions: every error becomes an event. */
export function createWebSocketStreams(options: WebSocketStreamOptions): OpenStream {
  return (target, listener) => openStream(target, listener, options);
}

function openStream(
  { address, token }: StreamTarget,
  listener: StreamListener,
  options: WebSocketStreamOptions,
): StreamConnection {
  let socket: WebSocket;
  try {
    socket = new WebSocket(withToken(address, token), {
      perMessageDeflate: false,
      // Other work runs between two messages, however many the socket holds.
      allowSynchronousEvents: false,
      maxPayload: LARGEST_FRAME_MB * 1024 * 1024,
      handshakeTimeout: HANDSHAKE_LIMIT_MS,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
  } catch (error) {
    // The error's text may hold the address.
    listener.broke('agent', `cannot open a WebSocket for this address (${nameOf(error)})`);
    return NO_CONNECTION;
  }
  const read = createTextCleaner(token);
  const samples = createWholeSamples(options.clock);
  const flood = createFloodMeter(options.clock);
  let opened = false;
  let over = false;
  let heardAt = Number.NEGATIVE_INFINITY;
  /** Reports the final event, unless the owner has closed the connection. */
  const settle = (say: () => void): void => {
    if (over) return;
    over = true;
    say();
  };

  socket.on('open', () => {
    if (over) return;
    opened = true;
    listener.opened();
  });
  socket.on('unexpected-response', (request, response) => {
    readUpgradeRefusal(response, read).then(
      (refusal) => {
        settle(() => listener.said(refusal));
        request.destroy();
      },
      () => settle(() => listener.unreached(true, 'the connection broke while the service refused it')),
    );
  });
  socket.on('error', (error) => {
    if (!opened && isTooEarly(error)) options.tooEarly?.();
    if (!opened) return settle(() => listener.unreached(...describeUnreached(error)));
    const breach = describeBreach(error);
    // For any other error, the close event that follows explains more.
    if (breach !== null) settle(() => listener.broke('service', breach));
  });
  socket.on('close', (code, reason) => {
    if (opened) settle(() => listener.said(endedOf(code, read(reason.toString('utf8')))));
    else settle(() => listener.unreached(true, 'the connection closed before it was open'));
  });
  /** Whether to ignore this message: the stream is over, or there are too many messages. */
  const isPassedOver = (frame: RawData): boolean => {
    if (over || !flood.isTooMuch(Buffer.isBuffer(frame) ? frame.byteLength : 0)) return over;
    settle(() => listener.broke('flood', `the agent closed the stream: the service sent ${FLOOD}`));
    socket.terminate();
    return true;
  };
  socket.on('pong', (data) => {
    if (!isPassedOver(data)) listener.pong();
  });
  socket.on('ping', (data) => {
    if (!isPassedOver(data)) heardAt = options.clock.now();
  });
  socket.on('message', (data, isBinary) => {
    if (isPassedOver(data)) return;
    heardAt = options.clock.now();
    if (isBinary) listener.unreadable('frame', 'binary frames');
    else deliverSafely(data, listener, read, samples);
  });

  const frames = createSoundFrames();
  let isBackedUp = false;
  /** Ignores the error of a failed send: the socket's close event follows and is handled instead. */
  const onSent = (): void => {
    if (!isBackedUp || socket.bufferedAmount > 0) return;
    isBackedUp = false;
    if (!over) listener.drained();
  };
  const send = (message: ClientMessage): void => {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(JSON.stringify(message), onSent);
    isBackedUp ||= socket.bufferedAmount > 0;
  };
  const end = (how: 'close' | 'terminate'): void => {
    over = true;
    if (how === 'close') socket.close(1000);
    else socket.terminate();
  };
  return {
    runTask: (task) => send({ message_type: 'set_task', data: speechTask(task) }),
    askForTask: () => send({ message_type: 'get_task', data: {} }),
    sendAudio(pcm) {
      if (socket.readyState !== WebSocket.OPEN) return;
      socket.send(frames.make(pcm), AS_TEXT, onSent);
      if (socket.bufferedAmount === 0) return;
      isBackedUp = true;
      frames.forget();
    },
    say: (text, language, translate) =>
      send({ message_type: 'tts_task', data: { text, language, translate_text: translate } }),
    end: () => send({ message_type: 'end_task', data: {} }),
    ping() {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (options.clock.now() - heardAt <= SIGN_OF_LIFE_MS) listener.pong();
      else socket.ping(undefined, undefined, ignoreSendError);
    },
    close: () => end('close'),
    terminate: () => end('terminate'),
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
  };
}

/** The token is a query parameter (docs/service.md 4.7). */
function withToken(address: string, token: string): URL {
  const url = new URL(address);
  url.searchParams.set('token', token);
  return url;
}

/** The socket's close event follows and is handled instead. */
function ignoreSendError(): void {}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** Skips a message that cannot be understood, whatever is wrong with it. */
function deliverSafely(
  frame: RawData,
  listener: StreamListener,
  read: CleanText,
  samples: WholeSamples,
): void {
  try {
    deliver(frame, listener, read, samples);
  } catch (error) {
    listener.unreadable('frame', `a frame that cannot be read (${nameOf(error)})`);
  }
}

function deliver(frame: RawData, listener: StreamListener, read: CleanText, samples: WholeSamples): void {
  const cut = Buffer.isBuffer(frame) ? cutSound(frame) : null;
  if (cut !== null) {
    const parsed = parseServerFrame(cut.text);
    // The mark proves that the removed part was the message's sound, and nothing else.
    if (parsed.kind === 'message' && parsed.message.message_type === 'output_audio_data') {
      const { data } = parsed.message;
      if (data.data === CUT) return deliverSound(data, takePcm(cut.sound), listener, samples);
    }
  }
  const parsed = parseServerFrame(frame.toString());
  switch (parsed.kind) {
    case 'unknown':
      listener.oddity(`an unknown message ${JSON.stringify(read(parsed.type ?? '').slice(0, 60))}`);
      return;
    case 'malformed':
      return listener.unreadable(unreadableWhat(parsed.type), parsed.reason);
    case 'message': {
      const { message } = parsed;
      if (message.message_type === 'error' || message.message_type === 'warning')
        return listener.said(eventOf(fitToShow(message, read)));
      if (message.message_type !== 'output_audio_data') return listener.said(eventOf(message));
      return deliverSound(message.data, decodeSound(message.data.data), listener, samples);
    }
  }
}

function unreadableWhat(type: ServerMessage['message_type'] | null): UnreadableWhat {
  if (type === null) return 'frame';
  return type === 'output_audio_data' ? 'sound' : 'speech';
}

type Complaint = Extract<ServerMessage, { message_type: 'error' | 'warning' }>;

/** An operator reads the service's complaints: makes each text in them fit to show. */
function fitToShow(finding: Complaint, read: CleanText): Complaint {
  const words = Object.entries(finding.data).map(([key, value]) => [
    key,
    typeof value === 'string' ? read(value) : value,
  ]);
  return { ...finding, data: Object.fromEntries(words) };
}

type SpeechData = Extract<ServerMessage, { message_type: 'output_audio_data' }>['data'];

function deliverSound(
  data: SpeechData,
  { pcm, problem }: Payload,
  listener: StreamListener,
  samples: WholeSamples,
): void {
  // The end of an utterance counts even when its sound is unreadable.
  listener.said(spokeOf(data, samples.take(pcm, utteranceOf(data), data.last_chunk === true)));
  if (problem !== null) listener.unreadable('sound', problem);
}
