import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { fc } from '../properties.ts';
import { ask, connect, createToken, streamUrl } from './client.ts';
import { createHarness, task } from './core/harness.ts';
import { noise, pcm } from './core/voice.ts';

/** The amount of each kind of input. */
export interface Sizes {
  readonly orders: number;
  readonly frames: number;
  readonly requests: number;
  readonly sessions: number;
  readonly streams: number;
}

const TYPES = [
  'set_task',
  'get_task',
  'input_audio_data',
  'pause_task',
  'interrupt_task',
  'flush_task',
  'tts_task',
  'end_task',
];
const anyMessage = fc.record(
  {
    message_type: fc.oneof(fc.constantFrom(...TYPES), fc.string()),
    data: fc.oneof(fc.jsonValue(), fc.constant(task()), fc.constant({ data: 'AAAA' })),
  },
  { requiredKeys: [] },
);

/** The emulator survives any input. */
export function describeFuzz(sizes: Sizes): void {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator({
      profile: 'live',
      setupMs: 0,
      concurrent: 600,
      pending: 4000,
      connectionsPerMinute: 0,
    });
  });
  afterAll(() => emulator.close());

  /** Opens a stream on a bare socket. */
  const handshake = (): string => {
    const path = `/streaming-api/x/v1/speech-to-speech/stream?token=${emulator.apiKey}`;
    return `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16, 7).toString('base64')}\r\n\r\n`;
  };

  /** Checks that the service still does its main job. */
  async function expectAlive(): Promise<void> {
    const { token } = await createToken(emulator);
    const client = await connect(streamUrl(emulator, token));
    client.send('set_task', task());
    client.send('get_task');
    await client.next('current_task');
    client.socket.terminate();
  }

  describe('the core', () => {
    test('accepts any messages in any order at any time, and always ends', () => {
      const step = fc.oneof(
        fc.record({ kind: fc.constant('message' as const), json: fc.oneof(anyMessage, fc.jsonValue()) }),
        fc.record({ kind: fc.constant('audio' as const), bytes: fc.uint8Array({ maxLength: 3000 }) }),
        fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(4000) }),
        fc.record({ kind: fc.constant('junk' as const) }),
      );
      fc.assert(
        fc.property(fc.constantFrom('spec', 'live'), fc.array(step, { maxLength: 60 }), (profile, steps) => {
          const harness = createHarness({}, profile);
          const stream = harness.open();
          for (const given of steps) {
            if (given.kind === 'message') harness.service.receive(stream, given.json, harness.now());
            if (given.kind === 'audio') harness.service.hear(stream, given.bytes, 1500, harness.now());
            if (given.kind === 'junk') harness.service.receiveJunk(stream, 'junk', harness.now());
            harness.pass(given.kind === 'pass' ? given.ms : 0);
          }
          harness.send(stream, 'end_task', {});
          harness.pass(60_000);
          expect(harness.service.streams()).toEqual([]);
          expect(harness.service.nextAt(harness.now())).toBe(Number.POSITIVE_INFINITY);
        }),
        { numRuns: sizes.orders },
      );
    });
  });

  describe('the sockets', () => {
    test('survive random JSON and random bytes as frames', async () => {
      const frame = fc.oneof(
        anyMessage.map((json) => JSON.stringify(json)),
        fc.json(),
        fc.string(),
        fc.uint8Array({ maxLength: 300 }),
      );
      const frames = fc.sample(frame, { numRuns: sizes.frames, seed: 5 });
      let client = await connect(streamUrl(emulator));
      for (const [index, content] of frames.entries()) {
        if (client.socket.readyState !== WebSocket.OPEN) client = await connect(streamUrl(emulator));
        client.socket.send(content);
        if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      client.socket.terminate();
      await expectAlive();
    });

    test('survive random bytes below the WebSocket', async () => {
      const port = Number(new URL(emulator.url).port);
      for (const bytes of fc.sample(fc.uint8Array({ minLength: 1, maxLength: 2000 }), {
        numRuns: 40,
        seed: 6,
      })) {
        const socket = connectSocket(port, '127.0.0.1');
        socket.on('error', () => {});
        socket.resume();
        await once(socket, 'connect');
        socket.write(handshake());
        socket.write(bytes);
        await new Promise((resolve) => setTimeout(resolve, 5));
        socket.destroy();
      }
      await expect.poll(() => emulator.service.streams().length).toBe(0);
      await expectAlive();
    });

    test('survive random requests', async () => {
      const paths = [
        '/session-storage/v2/sessions',
        '/session-storage/session',
        '/saas/voice/clone',
        '/emulator/faults',
        '/emulator/settings',
        '/emulator-uploads/x',
        '/%00',
        '/session-storage/v2/sessions/%ff',
      ];
      const request = fc.record({
        path: fc.constantFrom(...paths),
        method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
        body: fc.oneof(fc.json(), fc.string()),
        jwt: fc.boolean(),
      });
      for (const { path, method, body, jwt } of fc.sample(request, { numRuns: sizes.requests, seed: 7 })) {
        const headers = {
          authorization: `Bearer ${jwt ? emulator.jwt : emulator.apiKey}`,
          'content-type': 'application/json',
        };
        const response = await fetch(emulator.url + path, {
          method,
          headers,
          ...(method === 'GET' ? {} : { body }),
        });
        await response.arrayBuffer();
        expect(response.status, `${method} ${path} ${body}`).toBeLessThan(500);
      }
      await ask(emulator, 'DELETE', '/emulator/faults');
      await expectAlive();
    });
  });

  describe('crowds', () => {
    test('disconnect a client that pings endlessly and reads nothing', async () => {
      const socket = connectSocket(Number(new URL(emulator.url).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(handshake());
      await once(socket, 'data');
      socket.pause();
      const stream = emulator.reports().at(-1)?.id;
      const over = () => emulator.reports().find(({ id }) => id === stream)?.closed?.by;
      // A ping with 125 bytes and a mask of zeros.
      const ping = Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125, 'x')]);
      const thousand = Buffer.concat(Array(1000).fill(ping));
      for (let count = 0; count < 400 && over() === undefined; count++) {
        socket.write(thousand);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await expect.poll(over).toBe('network');
      socket.destroy();
      await expectAlive();
    });

    test(`${sizes.sessions} sessions`, async () => {
      const created = await Promise.all(
        Array.from({ length: sizes.sessions }, (_, index) =>
          createToken(emulator, { client_reference_id: `kiosk-${index % 50}` }),
        ),
      );
      expect(new Set(created.map(({ token }) => token)).size).toBe(sizes.sessions);
      const { json } = await ask(emulator, 'GET', '/session-storage/v2/sessions?client_reference_id=kiosk-7');
      expect((json as { data: unknown[] }).data).toHaveLength(sizes.sessions / 50);
    });

    test(`${sizes.streams} streams that speak at once leave nothing open`, async () => {
      const urls = Array.from({ length: sizes.streams }, () => streamUrl(emulator));
      const clients = await Promise.all(urls.map((url) => connect(url)));
      for (const client of clients) client.send('set_task', task());
      const chunk = pcm(noise(0.32, 24_000, 3000));
      for (let count = 0; count < 3; count++) {
        for (const client of clients) client.audio(chunk);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const frames = () =>
        emulator
          .reports()
          .filter(({ phase }) => phase === 'running')
          .reduce((sum, { frames_in }) => sum + frames_in, 0);
      await expect.poll(frames).toBe(3 * sizes.streams);
      expect(emulator.reports().filter(({ phase }) => phase === 'running')).toHaveLength(sizes.streams);
      for (const client of clients) client.send('end_task', { force: true });
      const closes = await Promise.all(clients.map(({ closed }) => closed));
      expect(new Set(closes.map(({ code }) => code))).toEqual(new Set([1000]));
      expect(emulator.service.streams()).toEqual([]);
      await expectAlive();
    });
  });
}
