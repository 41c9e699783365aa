import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createWebSocketStreams } from '../../../src/adapters/stream/websocket-stream.ts';
import { needs } from '../../needs.ts';
import { findOpenssl } from '../mqtt/mosquitto.ts';
import { makeWeakCertificates, OLD_SERVER, portOf } from '../weak-certificates.ts';
import { listen, TOKEN } from './peer.ts';

it('names the address of a redirect, without login, query and token', async () => {
  const locations = [
    `https://anna:pa@ss@other.example/${TOKEN}/login?token=${TOKEN}`,
    '/new/stream?key=abcdef',
  ];
  const said: unknown[] = [];
  for (const location of locations) {
    const server = createServer((_, response) => response.writeHead(301, { location }).end('<html>'));
    onTestFinished(() => void server.close());
    const { listener, until } = listen();
    const address = `ws://127.0.0.1:${await portOf(server)}/`;
    createWebSocketStreams({ clock: createSystemClock() })({ address, token: TOKEN }, listener);
    said.push((await until('refused'))[1]);
  }
  expect(said).toMatchObject([
    { status: 301, detail: 'it leads to https://other.example/[redacted]/login' },
    { status: 301, detail: 'it leads to /new/stream' },
  ]);
});

it(
  'names the reason of OpenSSL, and keeps the token, when the certificate is signed with SHA-1',
  needs(!findOpenssl() && 'needs openssl'),
  async () => {
    const files = makeWeakCertificates();
    onTestFinished(() => files.remove());
    const server = createTlsServer({
      key: files.read('sha1.key'),
      cert: files.read('sha1.crt'),
      ...OLD_SERVER,
    });
    server.on('tlsClientError', () => {});
    onTestFinished(() => void server.close());
    const { listener, until } = listen();
    const address = `wss://localhost:${await portOf(server)}/`;
    const ca = files.read('ca.crt');
    createWebSocketStreams({ clock: createSystemClock(), ca })({ address, token: TOKEN }, listener);
    expect(await until('unreached')).toEqual([
      'unreached',
      false,
      "the service's certificate is not trusted (CA signature digest algorithm too weak): have the certificate issued again with SHA-256",
    ]);
  },
);
