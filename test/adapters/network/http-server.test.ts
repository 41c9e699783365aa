/** Doors that cannot be held shut: the server of the console, of metrics and releases, and of the kiosk's screen. */
import { once } from 'node:events';
import { request as ask, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import {
  type HttpServer,
  type HttpServerOptions,
  openHttpServer,
} from '../../../src/adapters/network/http-server.ts';
import { createAuthority, issueCertificate } from '../../../src/backend/broker/authority.ts';
import { needs } from '../../needs.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { findOpenssl } from '../mqtt/mosquitto.ts';

const LIMITS = { most: 12, mostOfAddress: 6 };
const HALF = 'GET / HTTP/1.1\r\nHost: x\r\n';
const sockets: Socket[] = [];
let server: HttpServer | null = null;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = null;
});

async function open(listener: RequestListener, more: Partial<HttpServerOptions> = {}): Promise<HttpServer> {
  const clock = createSystemClock();
  server = await openHttpServer({ host: '127.0.0.1', port: 0, limits: LIMITS, clock, listener, ...more });
  return server;
}
const fine: RequestListener = (_request, response) => void response.end('fine');

/** Any address of 127.0.0.0/8 is this machine. */
async function dial(text: string, localAddress = '127.0.0.1') {
  const socket = connect({ host: '127.0.0.1', port: server?.port ?? 0, localAddress });
  sockets.push(socket);
  const state = { socket, text: '', isClosed: false };
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    state.text += chunk.toString('latin1');
  });
  socket.on('close', () => {
    state.isClosed = true;
  });
  await once(socket, 'connect');
  socket.write(text);
  return state;
}
type Held = Awaited<ReturnType<typeof dial>>;
function get(localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server?.port, localAddress, agent: false };
    ask(options, (response) => resolve(response.resume().statusCode ?? 0))
      .on('error', reject)
      .end();
  });
}
const openOf = (list: readonly { isClosed: boolean }[]): number =>
  list.filter(({ isClosed }) => !isClosed).length;

describe('a server under requests that are sent ahead of their answers', () => {
  it('answers a few for each connection, drops the rest, and answers another address', async () => {
    let begun = 0;
    const slow: RequestListener = (request, response) => {
      begun += 1;
      if (request.url === '/') response.end('fine');
    };
    await open(slow);
    const ahead = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200);
    const held = await Promise.all(Array.from({ length: 6 }, () => dial(ahead)));
    await expect.poll(() => openOf(held)).toBeLessThan(6);
    expect(await get('127.0.0.2')).toBe(200);
    // Of 1,200. An address has 24 requests under way, and a dropped connection makes room for the next one's 24.
    expect(begun).toBeLessThanOrEqual(6 * 24 + 1);
  });

  it('counts answers that were given no longer', async () => {
    await open(fine);
    const client = await dial('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
    await expect.poll(() => client.text.split('fine').length - 1).toBe(20);
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
    await expect.poll(() => client.text.split('fine').length - 1).toBe(40);
    expect(client.isClosed).toBe(false);
  });
});

describe('a server under half requests', () => {
  it.each([
    ['half heads', HALF],
    ['half bodies', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc`],
    ['silence', ''],
  ])('answers everybody, and keeps an address to its share: %s', async (_what, text) => {
    await open((request, response) => void request.on('end', () => response.end()).resume());
    const held: Held[] = [];
    for (let count = 0; count < 40; count += 1) held.push(await dial(text));
    await expect.poll(() => openOf(held)).toBe(6);
    expect(await get('127.0.0.1')).toBe(200);
    expect(await get('127.0.0.2')).toBe(200);
  });

  it('answers a new address when many addresses fill it', async () => {
    await open(fine);
    const held: Held[] = [];
    for (let count = 0; count < 30; count += 1) held.push(await dial(HALF, `127.0.1.${count}`));
    await expect.poll(() => openOf(held)).toBe(12);
    expect(await get('127.0.0.2')).toBe(200);
  });

  it('keeps the connections of the signed in, and answers longer than half requests', async () => {
    const opened = await open((request, response) => {
      if (request.url === '/known') opened.know(request);
      response.write('hello');
    });
    const whole = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const answers = [await dial(whole('/')), await dial(whole('/'))];
    const people = [await dial(whole('/known')), await dial(whole('/known'))];
    await expect.poll(() => [...answers, ...people].every(({ text }) => text.includes('hello'))).toBe(true);
    const half = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc';
    const halves: Held[] = [];
    for (let count = 0; count < 8; count += 1) {
      const one = await dial(half);
      halves.push(one);
      await once(one.socket, 'data');
    }
    await expect.poll(() => openOf(halves)).toBe(2);
    expect(openOf([...answers, ...people])).toBe(4);
    for (let count = 0; count < 20; count += 1) await dial(whole('/'), `127.0.1.${count}`);
    for (let count = 0; count < 8; count += 1) {
      const { socket } = await dial(whole('/'));
      await once(socket, 'data');
    }
    await expect.poll(() => openOf([...answers, ...halves])).toBe(0);
    expect(openOf(people)).toBe(2);
  });

  it('keeps an address to its share when all come at once', async () => {
    await open(fine);
    const held = await Promise.all(Array.from({ length: 40 }, () => dial(HALF)));
    await expect.poll(() => [openOf(held), server?.connections]).toEqual([6, 6]);
    expect(await get('127.0.0.1')).toBe(200);
  });

  it('closes a connection whose answer is complete before half requests that came later', async () => {
    await open(fine);
    const idle = await dial(`${HALF}\r\n`);
    await expect.poll(() => idle.text).toContain('fine');
    const halves: Held[] = [];
    for (let count = 0; count < 6; count += 1) halves.push(await dial(HALF));
    await expect.poll(() => idle.isClosed).toBe(true);
    expect(openOf(halves)).toBe(6);
  });

  it('has no share for the address of a proxy', async () => {
    await open(fine, { isShared: (address) => address === '127.0.0.1' });
    const held: Held[] = [];
    for (let count = 0; count < 12; count += 1) held.push(await dial(HALF));
    await expect.poll(() => server?.connections).toBe(12);
    expect(openOf(held)).toBe(12);
  });
});

describe('a server closes', needs(!findOpenssl() && 'needs openssl'), () => {
  let certificate = '';
  let key = '';
  beforeAll(() => {
    const authority = createAuthority('test authority');
    ({ certificate, key } = issueCertificate(authority, { usage: 'server', name: '127.0.0.1', days: 1 }));
  });
  const SOON = { headWithinMs: 200, requestWithinMs: 400 };

  it.each([
    ['silence', '', false],
    ['a half head', HALF, false],
    ['a half body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc', false],
    ['silence before TLS', '', true],
    ['a half handshake', '\u0016\u0003\u0001\u0002', true],
  ])('%s', async (_what, text, isTls) => {
    await open((request, response) => void request.on('end', () => response.end()).resume(), {
      ...SOON,
      ...(isTls && { tls: { cert: certificate, key } }),
    });
    const held = await dial(text);
    await expect.poll(() => held.isClosed).toBe(true);
    expect(server?.connections).toBe(0);
  });

  it('a second half request on a connection whose first one was answered', async () => {
    await open(fine, SOON);
    const held = await dial(`${HALF}\r\n`);
    await expect.poll(() => held.text).toContain('fine');
    held.socket.write(HALF);
    await expect.poll(() => held.isClosed).toBe(true);
  });

  it('a reader that stalls for 30 s, and none that reads', async () => {
    const clock = createVirtualClock();
    const body = Buffer.alloc(64 * 1024);
    await open(
      (_request, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(body));
          response.once('drain', more);
        };
        more();
      },
      { clock },
    );
    const stalled = await dial(`${HALF}\r\n`);
    const reader = await dial(`${HALF}\r\n`);
    await expect.poll(() => [stalled.text.length > 0, reader.text.length > 0]).toEqual([true, true]);
    stalled.socket.pause();
    // What the system has buffered counts as taken.
    for (let seconds = 0; !stalled.isClosed && seconds < 600; seconds += 10) {
      reader.text = '';
      await expect.poll(() => reader.text.length > 1_000_000).toBe(true);
      clock.advance(10_000);
      await new Promise((later) => setImmediate(later));
      if (server?.connections === 1) stalled.socket.resume();
    }
    expect([stalled.isClosed, reader.isClosed]).toEqual([true, false]);
  });

  it('its watch over readers with the last answer, and with its own end', async () => {
    const clock = createVirtualClock();
    await open(
      (request, response) => (request.url === '/' ? response.end('fine') : response.write('hello')),
      {
        clock,
      },
    );
    const done = await dial(`${HALF}\r\n`);
    await expect.poll(() => done.text).toContain('fine');
    expect(clock.armed).toBe(1);
    await expect
      .poll(() => {
        clock.advance(10_000);
        return clock.armed;
      })
      .toBe(0);
    const going = await dial(HALF.replace('/', '/long').concat('\r\n'));
    await expect.poll(() => going.text).toContain('hello');
    clock.advance(100_000);
    expect([clock.armed, going.isClosed]).toEqual([1, false]);
    await server?.close();
    expect(clock.armed).toBe(0);
  });

  it('all connections at its end, also those without a request or before TLS', async () => {
    await open(fine, { tls: { cert: certificate, key } });
    const held = [await dial(''), await dial('\u0016\u0003')];
    await expect.poll(() => server?.connections).toBe(2);
    await server?.close();
    await expect.poll(() => openOf(held)).toBe(0);
  });
});
