/** The service's end of a stream, for tests. Time stands still unless a test moves it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createWebSocketStreams } from '../../../src/adapters/stream/websocket-stream.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { StreamConnection, StreamListener } from '../../../src/ports/stream.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

export const TOKEN = 'tok-do-not-tell';
type Said = [string, ...unknown[]];

/** Records all events of a stream, and lets a test wait for one. */
export function listen(): { said: Said[]; listener: StreamListener; until(word: string): Promise<Said> } {
  const said: Said[] = [];
  const waiting: { word: string; resolve: (entry: Said) => void }[] = [];
  const note = (...entry: Said): void => {
    said.push(entry);
    for (const { word, resolve } of waiting) if (word === entry[0]) resolve(entry);
  };
  return {
    said,
    listener: {
      opened: () => note('opened'),
      said: (event) => note(event.type, event),
      unreached: (spent, message) => note('unreached', spent, message),
      broke: (fault, message) => note('broke', fault, message),
      oddity: (description) => note('oddity', description),
      unreadable: (what, description) => note('unreadable', what, description),
      pong: () => note('pong'),
      drained: () => note('drained'),
    },
    until: (word) =>
      new Promise((resolve) => {
        const known = said.find(([first]) => first === word);
        if (known !== undefined) resolve(known);
        else waiting.push({ word, resolve });
      }),
  };
}

async function serve(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/stream`;
}

/** A service that accepts; returns the server's side of the one connection. */
export async function accept(): Promise<{
  url: string;
  peer: Promise<WebSocket>;
  request: Promise<IncomingMessage>;
}> {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const connection = once(sockets, 'connection');
  const peer = connection.then(([socket]) => socket as WebSocket);
  const request = connection.then(([, asked]) => asked as IncomingMessage);
  return { url: await serve(server), peer, request };
}

/** A service that answers the upgrade itself. @returns its address */
export async function refuse(answer: (socket: Duplex, request: IncomingMessage) => void): Promise<string> {
  const server = createServer();
  server.on('upgrade', (request, socket) => answer(socket, request));
  return serve(server);
}

export function open(
  url: string,
  listener: StreamListener,
  clock: Clock = createVirtualClock(),
): StreamConnection {
  const connection = createWebSocketStreams({ clock })({ address: url, token: TOKEN }, listener);
  onTestFinished(() => connection.terminate());
  return connection;
}

/** An open stream, with both its ends. */
export async function connected(clock: Clock = createVirtualClock()) {
  const { url, peer } = await accept();
  const ear = listen();
  const connection = open(url, ear.listener, clock);
  const service = await peer;
  await ear.until('opened');
  return { ...ear, connection, service };
}
