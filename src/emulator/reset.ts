import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** The TCP connections below TLS, by peer: only the TCP connection can be reset. */
export interface Plumbing {
  /** Call it with each connection of a TLS server before its handshake. */
  note(socket: Socket): void;
  /** Ends a connection like a failing network: without a TLS close, by a reset if the system allows it. */
  reset(socket: Duplex): void;
}

const peerOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;

export function createPlumbing(): Plumbing {
  const below = new Map<string, Socket>();
  return {
    note(socket) {
      const peer = peerOf(socket);
      below.set(peer, socket);
      socket.once('close', () => below.delete(peer));
    },
    reset(socket) {
      if (socket instanceof TLSSocket) {
        below.get(peerOf(socket))?.resetAndDestroy();
        socket.destroy();
      } else if (socket instanceof Socket) {
        socket.resetAndDestroy();
      }
    },
  };
}
