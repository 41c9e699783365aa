/** Whether the console can be reached: full of strangers, and under its own names only. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ConsoleFixture, consoleOfEachTest } from './console-on-loopback.ts';

const { start } = consoleOfEachTest();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function hold(fixture: ConsoleFixture, count: number, localAddress: string): Promise<void> {
  const { port } = new URL(fixture.url);
  for (let index = 0; index < count; index += 1) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write('POST /api/sign-in HTTP/1.1\r\nHost: localhost\r\n');
  }
}

describe('the console full of half requests', () => {
  it.each([
    ['one address', () => '127.0.0.1'],
    ['many addresses', (index: number) => `127.0.1.${index + 1}`],
  ])('of %s lets people sign in, and keeps the streams of those who are', async (_what, from) => {
    const fixture = await start({}, ['ann']);
    const stream = await fixture.stream('ann');
    for (let index = 0; index < 11; index += 1) await hold(fixture, 100, from(index));
    expect(await fixture.signIn('vic')).toBe(200);
    expect((await fixture.ask('vic', 'GET', '/api/devices')).status).toBe(200);
    fixture.status('museum/a');
    await expect.poll(() => stream.diffs.findLast(({ counts }) => counts)?.counts?.total).toBe(1);
    expect(stream.isClosed).toBe(false);
    const open = sockets.filter((socket) => !socket.destroyed && socket.readyState === 'open');
    expect(open.length).toBeLessThan(from(0) === from(1) ? 250 : 1000);
  });
});

/** With a Host of its own, which `fetch` does not send. */
function askAs(fixture: ConsoleFixture, host: string, path = '/', more: Record<string, string> = {}) {
  const { port } = new URL(fixture.url);
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers: { host, ...more }, agent: false };
    request(options, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
}

describe('the console answers', () => {
  const PATHS = ['/', '/assets/console.js', '/api/me'];
  const statuses = async (fixture: ConsoleFixture, host: string, more: Record<string, string> = {}) =>
    Promise.all(PATHS.map(async (path) => (await askAs(fixture, host, path, more)).status));
  const SERVED = [200, 200, 401];
  const REFUSED = [421, 421, 421];

  it('at names of loopback, and refuses all others in one clear sentence', async () => {
    const fixture = await start();
    for (const host of [
      'localhost',
      'LOCALHOST:9000',
      '127.0.0.1:1',
      '127.9.9.9',
      '[::1]:8443',
      'localhost.',
    ])
      expect([host, await statuses(fixture, host)]).toEqual([host, SERVED]);
    for (const host of [
      'evil.example',
      'evil.example:8443',
      'localhost.evil.example',
      '192.0.2.1',
      'a b',
      '::1',
      'localhost@evil',
    ])
      expect([host, await statuses(fixture, host)]).toEqual([host, REFUSED]);
    const sentence =
      'the console does not answer to "evil.example": open it under one of its own names, or add this name to console.hosts in the backend\'s configuration';
    expect((await askAs(fixture, 'evil.example')).text).toBe(`${sentence}\n`);
    expect(JSON.parse((await askAs(fixture, 'evil.example', '/api/me')).text)).toEqual({
      error: { code: 'host', message: sentence },
    });
    // Words of a proxy that is not listed.
    expect(await statuses(fixture, 'evil.example', { 'x-forwarded-host': 'localhost' })).toEqual(REFUSED);
  });

  it('at the names of its configuration', async () => {
    const hosts = ['Kiosks.example', 'müsli.example', '192.0.2.7'];
    const fixture = await start({ config: { console: { listen: '127.0.0.1:0', hosts } } });
    for (const host of [
      'kiosks.example:8443',
      'KIOSKS.example',
      'xn--msli-0ra.example',
      '192.0.2.7',
      'localhost',
    ])
      expect([host, await statuses(fixture, host)]).toEqual([host, SERVED]);
    for (const host of ['www.kiosks.example', 'example', '192.0.2.8'])
      expect([host, await statuses(fixture, host)]).toEqual([host, REFUSED]);
  });

  it('at any name that a listed proxy passes on, until its own names are listed', async () => {
    const listed = { listen: '127.0.0.1:0', trustedProxies: ['127.0.0.1'] };
    const open = await start({ config: { console: listed } });
    expect(await statuses(open, 'kiosks.example')).toEqual(SERVED);
    await open.close();
    const strict = await start({ config: { console: { ...listed, hosts: ['kiosks.example'] } } });
    expect(await statuses(strict, 'kiosks.example')).toEqual(SERVED);
    const passed = { 'x-forwarded-host': 'kiosks.example' };
    expect(await statuses(strict, '127.0.0.1:8443', passed)).toEqual(SERVED);
    // A page under a name of its own can send any header but Host.
    expect(await statuses(strict, 'evil.example', passed)).toEqual(REFUSED);
    expect(await statuses(strict, '127.0.0.1:8443', { 'x-forwarded-host': 'evil.example' })).toEqual(REFUSED);
  });
});
