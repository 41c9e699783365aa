import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** The TCP connections under TLS, by their peer: one that is encrypted can only be reset below its encryption. */
export interface Plumbing {
  /** To be called with each connection of a TLS server before its handshake. */
  note(socket: Socket): void;
  /** Ends a connection as a dying network does: without the close of TLS, by a reset where the system allows one. */
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
