/** Whether the console can be reached: full of strangers, and under its own names only. */
import { once } from 'node:events';
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
