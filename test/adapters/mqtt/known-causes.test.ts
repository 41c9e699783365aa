import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MqttConnection } from '../../../src/adapters/mqtt/bus.ts';
import { needs } from '../../needs.ts';
import {
  makeWeakCertificates,
  OLD_SERVER,
  portOf,
  serveTls,
  type WeakCertificates,
} from '../weak-certificates.ts';
import { findOpenssl } from './mosquitto.ts';
import { createTestBuses } from './test-buses.ts';

let files: WeakCertificates;
beforeAll(() => {
  files = makeWeakCertificates();
});
afterAll(() => files.remove());

const buses = createTestBuses();
const closing: (() => void)[] = [];
afterEach(async () => {
  await buses.closeAll();
  for (const close of closing.splice(0)) close();
});

/** The first report of a bus that cannot connect. */
async function downOf(connection: Partial<MqttConnection> & { url: string }) {
  const { downs } = buses.open(connection);
  await expect.poll(() => downs.length).toBeGreaterThan(0);
  return downs[0] ?? { problem: 'none', message: '' };
}

async function served(server: Server): Promise<number> {
  closing.push(() => server.close());
  return portOf(server);
}

describe('a broker over WebSocket', needs(!findOpenssl() && 'needs openssl'), () => {
  const answering = (status: number, headers: Record<string, string> = {}): Server =>
    createServer((_, response) => response.writeHead(status, headers).end('words')).on(
      'upgrade',
      (_request, socket) => {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.end(`HTTP/1.1 ${status} Odd\r\n${lines.join('')}Content-Length: 0\r\n\r\n`);
      },
    );

  it.each([
    [404, {}, 'HTTP 404 (Not Found) in place of a WebSocket: check the path of the address'],
    [
      401,
      {},
      'HTTP 401 (Unauthorized) in place of a WebSocket: the proxy before the broker wants a login of its own',
    ],
    [403, {}, 'HTTP 403 (Forbidden) in place of a WebSocket: the proxy before the broker does not allow'],
    [426, {}, 'HTTP 426 (Upgrade Required) in place of a WebSocket: the server wants another protocol'],
    [502, {}, 'HTTP 502 (Bad Gateway) in place of a WebSocket: the proxy does not reach the broker'],
    [200, {}, 'HTTP 200 (OK) in place of a WebSocket: a web page is at this address'],
    [503, {}, 'HTTP 503 (Service Unavailable) in place of a WebSocket: the proxy finds no running broker'],
    [599, {}, 'HTTP 599 in place of a WebSocket: the proxy before the broker has a fault'],
    [
      301,
      { location: 'https://anna:se@cret@other.example/mqtt?token=abcdef#x' },
      'HTTP 301 (Moved Permanently), which leads to https://other.example/mqtt in place of a WebSocket: redirects are not followed, so change the address',
    ],
  ])('is reported with its answer when that is HTTP %i', async (status, headers, words) => {
    const url = `ws://127.0.0.1:${await served(answering(status, headers))}`;
    expect(await downOf({ url: `${url}/mqtt` })).toEqual({
      problem: 'unreachable',
      message: expect.stringContaining(`${url} answered with ${words}`),
    });
  });

  it('is reported with its answer over TLS, where redirects to a path are named in full', async () => {
    const server = createSecureServer({ key: files.read('good.key'), cert: files.read('good.crt') });
    server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 307 Odd\r\nLocation: /new\r\n\r\n'));
    const port = await served(server);
    const { message } = await downOf({ url: `wss://localhost:${port}/old`, ca: files.read('ca.crt') });
    expect(message).toContain(`HTTP 307 (Temporary Redirect), which leads to wss://localhost:${port}/new`);
  });

  it('is reported in the words of the library when it does not speak HTTP', async () => {
    const port = await served(createTcpServer((socket) => socket.end('220 mail\r\n').on('error', () => {})));
    expect((await downOf({ url: `ws://127.0.0.1:${port}` })).message).toMatch(
      /cannot reach ws:.*Expected HTTP.*\(HPE_/,
    );
  });

  it('is reported in the words of the library when it answers the handshake wrongly', async () => {
    const server = createServer().on('upgrade', (_, socket) =>
      socket.write(
        'HTTP/1.1 101 Odd\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n',
      ),
    );
    const { message } = await downOf({ url: `ws://127.0.0.1:${await served(server)}` });
    expect(message).toMatch(/failed: Invalid Sec-WebSocket-Accept header$/);
  });
});

describe.each(['mqtts', 'wss'])(
  'a broker over TLS (%s)',
  needs(!findOpenssl() && 'needs openssl'),
  (scheme) => {
    const pair = (name: string): TlsOptions => ({
      key: files.read(`${name}.key`),
      cert: files.read(`${name}.crt`),
    });
    const tried = async (options: TlsOptions, own: Partial<MqttConnection> = {}) => {
      const { port, close } = await serveTls(options);
      closing.push(close);
      return downOf({ url: `${scheme}://localhost:${port}`, ca: files.read('ca.crt'), ...own });
    };

    it('is reported with the reason of OpenSSL when its certificate is signed with SHA-1', async () => {
      expect((await tried({ ...pair('sha1'), ...OLD_SERVER })).message).toMatch(
        /is not trusted \(CA signature digest algorithm too weak\): have the certificate .* SHA-256$/,
      );
    });

    it('is reported with the reason of OpenSSL when it speaks TLS 1.1', async () => {
      const old = { ...OLD_SERVER, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' } as const;
      expect((await tried({ ...pair('good'), ...old })).message).toMatch(
        /fails at TLS \(tlsv1 alert protocol version(, ERR_SSL_\w+)?\): the server must allow TLS 1\.2/,
      );
    });

    it('is reported as refused when it wants a certificate and gets none', async () => {
      const asks = { requestCert: true, rejectUnauthorized: true, ca: files.read('ca.crt') };
      expect(await tried({ ...pair('good'), ...asks })).toEqual({
        problem: 'refused',
        message: expect.stringMatching(/does not accept our certificate \(.*alert certificate required/),
      });
    });

    it('is reported as refused when our own key is too small', async () => {
      const own = { cert: files.read('small.crt'), key: files.read('small.key') };
      const down = await tried(pair('good'), own);
      expect(down).toEqual({
        problem: 'refused',
        message: expect.stringMatching(/cannot be used \(ee key too small, .*RSA 2048/),
      });
    });
  },
);
