import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../ports/clock.ts';
import type { Choices } from './core/choices.ts';
import { HEALTHY_LINK, type Link, type RawForm } from './core/effect.ts';
import type { OutMessage } from './core/outbox.ts';
import { type ReadFrame, readFrame, writeFrame } from './message-frame.ts';

/** Unsent data (bytes) at which a client that does not read is disconnected. */
const MOST_UNREAD_BYTES = 16_000_000;
/** Silence (ms) after which a client is disconnected; three heartbeats if that is longer. */
const SILENT_MS = 30_000;
/** Time (ms) after which a socket left open in a black hole is closed. */
const ABANDONED_MS = 600_000;
/** Time (ms) from a close frame until the socket is closed without the client's answer. */
const CLOSE_TIMEOUT_MS = 1000;

/** Time (ms) that a client has to close its side of the socket after the exchange of close frames. */
const HANG_UP_MS = 200;

/** Events of a connection. */
export interface ConnectionEvents {
  frame(frame: ReadFrame): void;
  gone(code: number, reason: string, by: 'client' | 'network'): void;
}

/** One WebSocket with the faults of its link. */
export interface Connection {
  send(message: OutMessage): void;
  sendRaw(payload: string | Uint8Array, as?: RawForm): void;
  setLink(link: Link): void;
  close(code: number, reason: string): void;
  reset(): void;
}

/**
 * @param raw the connection below the WebSocket
 * @param resetRaw ends `raw` without a close
 */
export function createConnection(
  socket: WebSocket,
  raw: Duplex,
  clock: Clock,
  choices: Choices,
  events: ConnectionEvents,
  resetRaw: (raw: Duplex) => void,
): Connection {
  const unsent: { payload: string | Uint8Array; as: RawForm | undefined }[] = [];
  let unsentBytes = 0;
  let link: Link = HEALTHY_LINK;
  let sentMessages = 0;
  let lastHeardAt = clock.now();
  let closedHere = false;
  let cancelRest: () => void = () => {};
  let cancelPing: () => void = () => {};

  const write = (payload: string | Uint8Array, as: RawForm | undefined): void => {
    if (as === 'wire') raw.write(payload);
    else socket.send(payload, { binary: typeof payload !== 'string' && as !== 'text' });
  };

  const cutUnread = (): void => {
    if (unsentBytes + socket.bufferedAmount > MOST_UNREAD_BYTES) socket.terminate();
  };

  const put = (payload: string | Uint8Array, as?: RawForm): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (link.mute) {
      unsent.push({ payload, as });
      unsentBytes += payload.length;
    } else {
      write(payload, as);
    }
    cutUnread();
  };

  /** Disconnects a silent client. In a black hole the client must not notice it: the socket stays open. */
  const endSilentClient = (): void => {
    if (!link.deaf) return socket.terminate();
    closedHere = true;
    cancelPing = clock.at(clock.now() + ABANDONED_MS, () => socket.terminate());
    events.gone(1006, 'no answer to pings', 'network');
  };

  const ping = (): void => {
    if (clock.now() - lastHeardAt > Math.max(SILENT_MS, 3 * choices.heartbeatMs)) return endSilentClient();
    if (!link.mute && socket.readyState === socket.OPEN) socket.ping();
    cancelPing = clock.at(clock.now() + choices.heartbeatMs, ping);
  };

  /** Pauses reading until a connection of that speed would have delivered these bytes. */
  const throttle = (bytes: number): void => {
    if (link.readBytesPerS === 0 || link.deaf) return;
    socket.pause();
    cancelRest();
    cancelRest = clock.at(clock.now() + (bytes / link.readBytesPerS) * 1000, () => {
      if (!link.deaf) socket.resume();
    });
  };

  const heal = (): void => {
    for (const { payload, as } of unsent.splice(0)) if (socket.readyState === socket.OPEN) write(payload, as);
    unsentBytes = 0;
  };

  socket.on('message', (frame: Buffer, isBinary: boolean) => {
    lastHeardAt = clock.now();
    throttle(frame.byteLength);
    events.frame(readFrame(frame, isBinary));
  });
  socket.on('ping', (data: Buffer) => {
    lastHeardAt = clock.now();
    if (!link.mute && socket.readyState === socket.OPEN) socket.pong(data);
    cutUnread();
  });
  socket.on('pong', () => {
    lastHeardAt = clock.now();
  });
  // An invalid frame from a client leads to a close, which is handled below.
  socket.on('error', () => {});
  socket.on('close', (code: number, reason: Buffer) => {
    cancelPing();
    cancelRest();
    if (!closedHere) events.gone(code, reason.toString('utf8'), code === 1006 ? 'network' : 'client');
  });
  // After the exchange of close frames this side has ended, but the client may leave its half open forever.
  raw.once('finish', () => {
    const cancel = clock.at(clock.now() + HANG_UP_MS, () => socket.terminate());
    socket.once('close', cancel);
  });
  cancelPing = clock.at(clock.now() + choices.heartbeatMs, ping);

  return {
    send(message) {
      const frame = writeFrame(message, choices.dataForm, sentMessages++);
      put(frame, typeof frame === 'string' ? undefined : 'text');
    },
    sendRaw: put,
    setLink(next) {
      link = next;
      if (link.deaf) socket.pause();
      else socket.resume();
      if (!link.mute) heal();
    },
    close(code, reason) {
      closedHere = true;
      if (link.mute) return socket.terminate();
      socket.resume();
      socket.close(code, reason.slice(0, 120));
      const cancel = clock.at(clock.now() + CLOSE_TIMEOUT_MS, () => socket.terminate());
      socket.once('close', cancel);
    },
    reset() {
      closedHere = true;
      resetRaw(raw);
      socket.terminate();
    },
  };
}
