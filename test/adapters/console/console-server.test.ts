/** What the server of the console adds to the door: its names, its bodies, and connections that end. */
import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { consoleFilesOf } from '../../../src/adapters/console/console-files.ts';
import { type ConsoleRequest, jsonAnswer, TooLarge } from '../../../src/adapters/console/console-request.ts';
import {
  type ConsoleServer,
  type ConsoleServerOptions,
  openConsoleServer,
} from '../../../src/adapters/console/console-server.ts';
import { createAuthority, issueCertificate } from '../../../src/backend/broker/authority.ts';
import { needs } from '../../needs.ts';
import { findOpenssl } from '../mqtt/mosquitto.ts';

let server: ConsoleServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function open(more: Partial<ConsoleServerOptions> = {}): Promise<ConsoleServer> {
  server = await openConsoleServer({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    trustedProxies: [],
    hosts: [],
    files: new Map(),
    clock: createSystemClock(),
    api: async ({ path }) => ({ kind: 'answer', answer: jsonAnswer(200, { path }) }),
    ...more,
  });
  return server;
}

/** What the server says to these bytes until it closes the connection. */
async function say(text: string): Promise<string> {
  const socket = connect(Number(new URL(server?.url ?? '').port), '127.0.0.1');
  let said = '';
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
  });
  // The server may close it before all of the body is read.
  socket.on('error', () => {});
  socket.write(text);
  await once(socket, 'close');
  return said;
}
const answersIn = (said: string): string[] => said.match(/HTTP\/1\.1 \d+/g) ?? [];

describe('the server of the console', () => {
  it('answers at the name of its renewed certificate', needs(!findOpenssl() && 'needs openssl'), async () => {
    const authority = createAuthority('test authority');
    const certified = (name: string) => {
      const { certificate, key } = issueCertificate(authority, { usage: 'server', name, days: 1 });
      return { cert: certificate, key };
    };
    const { url } = await open({ tls: certified('kiosks.example') });
    const ask = (name: string) =>
      new Promise<number | string>((resolve) => {
        const where = { host: '127.0.0.1', port: new URL(url).port, servername: name, agent: false };
        request({ ...where, ca: authority.certificate, headers: { host: name } }, (response) =>
          resolve(response.resume().statusCode ?? 0),
        )
          .on('error', ({ message }) => resolve(message))
          .end();
      });
    expect(await ask('kiosks.example')).toBe(200);
    server?.renew(certified('desk.example'));
    expect(await ask('desk.example')).toBe(200);
    expect(await ask('kiosks.example')).toMatch(/does not match/);
  });

  it.each([
    ['that it does not read', async () => jsonAnswer(403, {})],
    [
      'that is too large',
      async ({ body }: ConsoleRequest) =>
        body(4).then(
          () => jsonAnswer(200, {}),
          (error) => jsonAnswer(error instanceof TooLarge ? 413 : 500, {}),
        ),
    ],
  ])('takes nothing in a body %s for a request', async (_what, answer) => {
    const asked: string[] = [];
    await open({
      api: async (one) => {
        asked.push(one.path);
        return { kind: 'answer', answer: await answer(one) };
      },
    });
    const hidden = 'GET /api/hidden HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const head = `POST /api/open HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length + 1000}\r\n\r\n`;
    const said = await say(head + hidden);
    expect([answersIn(said).length, asked]).toEqual([1, ['/api/open']]);
    expect(said).toMatch(/^HTTP\/1\.1 4\d\d .*\r\n(.*\r\n)*?Connection: close\r\n/i);
  });

  it('reads a body up to its limit, and no byte more', async () => {
    await open({
      api: async ({ body }) => {
        try {
          return { kind: 'answer', answer: jsonAnswer(200, await body(6)) };
        } catch (error) {
          return { kind: 'answer', answer: jsonAnswer(413, String(error)) };
        }
      },
    });
    const post = async (body: string) =>
      (await fetch(`${server?.url}/api/x`, { method: 'POST', body })).text();
    expect(await post('Grüß')).toBe('"Grüß"');
    expect(await post('Grüß!')).toContain('at most 6 bytes');
  });

  it('gives its files zipped to whoever takes that, and takes nothing for them', async () => {
    const text = '"page";'.repeat(100);
    await open({ files: consoleFilesOf({ 'console.js': text }) });
    const ask = (method: string, headers: Record<string, string>) =>
      fetch(`${server?.url}/assets/console.js`, { method, headers });
    for (const coding of ['gzip', 'identity']) {
      const response = await ask('GET', { 'accept-encoding': coding });
      const { headers } = response;
      expect([headers.get('content-encoding'), headers.get('vary'), headers.get('content-type')]).toEqual([
        coding === 'gzip' ? 'gzip' : null,
        'Accept-Encoding',
        'text/javascript; charset=utf-8',
      ]);
      expect(await response.text()).toBe(text);
    }
    expect((await ask('POST', {})).status).toBe(405);
    const head = await ask('HEAD', { 'accept-encoding': 'identity' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '700', '']);
  });

  it('closes the connection of a stranger who asks under another name', async () => {
    await open();
    const said = await say('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n');
    expect(answersIn(said)).toEqual(['HTTP/1.1 421']);
  });

  it('reads a path that begins with two slashes as a path', async () => {
    await open();
    const said = await say('GET //evil.example/api HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(answersIn(said)).toEqual(['HTTP/1.1 200']);
    const api = await say('GET /api/x?y=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(api).toContain('{"path":"/api/x"}');
  });
});
