import { request as httpRequest } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { ask, refusedUpgrade, streamUrl } from './client.ts';
import { open, start } from './started-emulator.ts';

/** Sends one request with headers that `fetch` does not allow. */
function knock(
  emulator: Emulator,
  headers: Record<string, string>,
  path = '/emulator/settings',
  method = 'GET',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(emulator.url + path, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end();
  });
}

/** Sends a request unchanged; returns everything received until the connection ends. */
function rawRequest(emulator: Emulator, text: string): Promise<string> {
  const { hostname, port } = new URL(emulator.url);
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      answer += part;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

const FOREIGN = [
  'evil.example',
  'evil.example:80',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil.example@127.0.0.1',
  '127.0.0.1/evil',
  '10.0.0.1',
  '[::2]',
  'localhost:port',
];
const OWN = ['127.0.0.1', '127.0.0.1:1', 'localhost', 'LOCALHOST:8080', '127.0.0.2', '[::1]', '[::1]:99'];

describe('requests meant for another machine', () => {
  test.each(FOREIGN)('are refused without effect, as requests and as streams, with Host %j', async (host) => {
    const emulator = await start();
    for (const path of ['/emulator', '/emulator/settings', '/session-storage/v2/sessions', '/nowhere']) {
      const { status, text } = await knock(emulator, { host }, path);
      expect([status, JSON.parse(text)]).toMatchObject([403, { ok: false }]);
      expect(text).toContain('--allow-host');
    }
    const upgrade = await refusedUpgrade(streamUrl(emulator), { host });
    expect(upgrade.status).toBe(403);
    expect(upgrade.text).toContain('foreign_host');
    expect(emulator.reports()).toEqual([]);
  });

  test.each(OWN)('do not include Host %j', async (host) => {
    const emulator = await start();
    expect((await knock(emulator, { host })).status).toBe(200);
  });

  test('are refused with two Hosts, in either order', async () => {
    const emulator = await start();
    for (const hosts of [
      ['127.0.0.1', 'evil.example'],
      ['evil.example', '127.0.0.1'],
    ]) {
      const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
      const answer = await rawRequest(emulator, `GET /emulator/settings HTTP/1.1\r\n${lines}\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
    }
    expect(await rawRequest(emulator, 'GET /emulator/settings HTTP/1.0\r\n\r\n')).toContain('403');
  });

  test('are allowed only with a listed name', async () => {
    const emulator = await start({ allowedHosts: ['kiosk.example', '[2001:db8::7]'] });
    for (const host of ['kiosk.example', 'Kiosk.Example:8443', '[2001:db8::7]:80'])
      expect((await knock(emulator, { host })).status).toBe(200);
    expect((await knock(emulator, { host: 'a.kiosk.example' })).status).toBe(403);
  });

  test('do not use up a fault that is ordered for the next request', async () => {
    const emulator = await start();
    emulator.fault({ kind: 'http', route: 'any', status: 500 });
    emulator.fault({ kind: 'refuse', reason: 'forbidden' });
    await knock(emulator, { host: 'evil.example' }, '/session-storage/v2/sessions', 'POST');
    await refusedUpgrade(streamUrl(emulator), { host: 'evil.example' });
    expect((await ask(emulator, 'POST', '/session-storage/v2/sessions', { intent: 's2s' })).status).toBe(500);
    expect((await refusedUpgrade(streamUrl(emulator))).text).toContain('forbidden');
  });

  test('are refused by the Origin of a page of another machine', async () => {
    const emulator = await start({ allowedHosts: ['pages.example'] });
    const host = '127.0.0.1';
    for (const origin of ['https://evil.example', 'http://evil.example:3000', 'null', 'nonsense']) {
      expect((await knock(emulator, { host, origin })).status).toBe(403);
      expect((await refusedUpgrade(streamUrl(emulator), { origin })).status).toBe(403);
    }
    for (const origin of ['http://localhost:5173', 'https://pages.example', emulator.url])
      expect((await knock(emulator, { host, origin })).status).toBe(200);
  });

  test('do not include any address of the machine when the emulator listens everywhere', async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const outer = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    const emulator = await start({ host: '0.0.0.0' });
    expect((await knock(emulator, {})).status).toBe(200);
    expect((await knock(emulator, { host: 'evil.example' })).status).toBe(403);
    if (outer === undefined) return;
    const elsewhere = { ...emulator, url: emulator.url.replace('0.0.0.0', outer) };
    // Steering is for loopback alone; the service itself answers.
    expect((await knock(elsewhere, {}, '/nowhere')).status).toBe(404);
    expect((await knock(elsewhere, { host: 'evil.example' }, '/nowhere')).status).toBe(403);
  });

  test.each(['', '  '])('startEmulator refuses the empty address %j', async (host) => {
    await expect(startEmulator({ host })).rejects.toThrow('0.0.0.0 listens everywhere');
  });

  test.each(['a b', 'x:80', '', 'http://x'])('startEmulator refuses the listed name %j', async (name) => {
    await expect(startEmulator({ allowedHosts: [name] })).rejects.toThrow('not the name of a host');
  });
});

describe('a fault for a stream that does not run', () => {
  test('gets 404 with the id, and is not ordered', async () => {
    const emulator = await start();
    const client = await open(emulator);
    const order = (body: object) => ask(emulator, 'POST', '/emulator/faults', body);
    const schedule = { kind: 'schedule', for_ms: 1000, every_ms: { min: 10, max: 20 } };
    for (const body of [
      { kind: 'drop', stream: 'sNobody' },
      { ...schedule, faults: [{ kind: 'drop' }, { kind: 'drop', stream: 'sNobody' }] },
    ]) {
      const answer = await order(body);
      expect([answer.status, JSON.stringify(answer.json)]).toEqual([404, expect.stringContaining('sNobody')]);
    }
    expect(() => emulator.fault({ kind: 'drop', stream: 'sNobody' })).toThrow('sNobody');
    expect((await ask(emulator, 'GET', '/emulator/faults')).json).toMatchObject({ waiting: [] });
    const id = String(emulator.reports()[0]?.id);
    expect((await order({ kind: 'drop', stream: id })).status).toBe(202);
    await client.closed;
    expect((await order({ kind: 'drop', stream: id })).status).toBe(404);
    // Without an id, a fault waits for a stream.
    expect((await order({ kind: 'drop' })).status).toBe(202);
    await order({ kind: 'clear' });
    expect((await ask(emulator, 'GET', '/emulator/streams')).json).toMatchObject({ streams: [] });
  });
});
