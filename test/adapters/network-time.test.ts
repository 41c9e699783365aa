import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createPlainServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { askServerTime } from '../../src/adapters/network-time.ts';
import { createClockRequest } from '../../src/adapters/systemd/clock-request.ts';
import { needs } from '../needs.ts';
import { makeFolder } from './audio/wav-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-time-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
const made = spawnSync('openssl', [
  'req',
  '-x509',
  '-newkey',
  'ec',
  '-pkeyopt',
  'ec_paramgen_curve:prime256v1',
  '-nodes',
  '-days',
  '3',
  '-subj',
  '/CN=x',
  '-keyout',
  key,
  '-out',
  cert,
]);
const hasOpenssl = made.status === 0;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe('the time of a server', needs(!hasOpenssl && 'needs openssl'), () => {
  it('is the date of its answer, also with an untrusted certificate', async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      seen.push(request.method, request.headers.authorization, request.headers.cookie);
      response.writeHead(404, { date: 'Mon, 01 Jun 2026 12:00:00 GMT' }).end();
    });
    const time = await askServerTime(url);
    expect(time?.date).toBe(Date.UTC(2026, 5, 1, 12));
    expect((time?.validTo ?? 0) - (time?.validFrom ?? 0)).toBe(3 * 86_400_000);
    expect(seen).toEqual(['HEAD', undefined, undefined]);
  });

  it('is unknown without a valid date, after a hang-up, and without a server', async () => {
    const without = await serve((_request, response) => {
      response.sendDate = false;
      response.end();
    });
    expect(await askServerTime(without)).toBeNull();
    const other = await serve((_request, response) => void response.writeHead(200, { date: 'soon' }).end());
    expect(await askServerTime(other)).toBeNull();
    const rude = await serve((request) => void request.socket.destroy());
    expect(await askServerTime(rude)).toBeNull();
    expect(await askServerTime('https://127.0.0.1:1/')).toBeNull();
  });

  it('is unknown after a timeout', async () => {
    const mute = createPlainServer(() => {});
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    closers.push(() => mute.close());
    const began = performance.now();
    expect(await askServerTime(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/`, 300)).toBeNull();
    // The server itself would never answer.
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

describe('the request to set the clock', () => {
  it('is a file in the service’s runtime directory, with whole seconds', async () => {
    const directory = makeFolder();
    await createClockRequest({ RUNTIME_DIRECTORY: `${directory}:/run/other` })?.(1_780_000_000_499);
    expect(readFileSync(join(directory, 'clock'), 'utf8')).toBe('1780000000');
    expect(existsSync(join(directory, 'clock.draft'))).toBe(false);
  });

  it('cannot be made without a runtime directory', () => {
    expect(createClockRequest({})).toBeNull();
  });
});
