import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import {
  type Files,
  startWatchServer,
  text,
  type WatchServer,
} from '../../../src/adapters/watch/watch-server.ts';

/** A file without end. */
const FILES: Files = {
  below: '/releases/',
  async serve(_request, response) {
    const part = Buffer.alloc(256 * 1024);
    const more = (): void => {
      while (!response.destroyed && response.write(part));
      response.once('drain', more);
    };
    more();
  },
};
const sockets: Socket[] = [];
let server: WatchServer | null = null;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
});

describe('the pages for programs', () => {
  it('are served while readers of releases stall on more connections than there are', async () => {
    const pages = { '/healthz': async () => text(200, 'ok') };
    server = await startWatchServer('127.0.0.1:0', pages, createSystemClock(), FILES);
    const { port } = new URL(server.url);
    for (let count = 0; count < 400; count += 1) {
      const socket = connect({
        port: Number(port),
        host: '127.0.0.1',
        localAddress: `127.0.1.${count % 10}`,
      });
      sockets.push(socket);
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write('GET /releases/x HTTP/1.1\r\nHost: localhost\r\n\r\n');
      socket.pause();
    }
    for (let round = 0; round < 5; round += 1) {
      const answer = await fetch(`${server.url}/healthz`);
      expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
    }
  });
});
