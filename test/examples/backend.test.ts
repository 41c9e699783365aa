import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { runDemo } from '../../src/cli/demo/demo.ts';
import { openEnvironment } from '../../src/cli/demo/environment.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import type { Log } from '../../src/ports/log.ts';
import { tokenResponseSchema } from '../../src/protocol/mqtt/token.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/backend.mjs', import.meta.url));
const RECORDING = fileURLToPath(new URL('../../src/cli/demo/visitor.wav', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dragoman-example-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
});

/** Starts the example as a process, like an owner, and waits until it listens. */
async function startExample(env: Record<string, string>) {
  const child = spawn(process.execPath, [EXAMPLE], {
    // The demo's broker speaks only MQTT 3.1.1.
    env: { PATH: process.env['PATH'], MQTT_VERSION: '4', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let stderrText = '';
  child.stderr.on('data', (text) => {
    stderrText += text;
  });
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(`the example ended: ${stderrText}`))),
  ]);
  return {
    stderrText: () => stderrText,
    close: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

const silent = (): void => {};
const NO_LOG: Log = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };

describe('the backend of examples/', () => {
  it('is short enough to read', () => {
    expect(readFileSync(EXAMPLE, 'utf8').trimEnd().split('\n').length).toBeLessThan(80);
  });

  it('issues signed sessions to a kiosk, and another one after a revocation', async () => {
    let url = '';
    const environment = await openEnvironment({
      async startService({ apiKey }) {
        const emulator = await startEmulator({ setupMs: 200, apiKeys: [apiKey] });
        url = emulator.url;
        return emulator;
      },
      startBackend: ({ brokerUrl, serviceUrl, apiKey, signingKeyFile }) =>
        startExample({
          BROKER: brokerUrl,
          SERVICE_URL: serviceUrl,
          API_KEY: apiKey,
          SIGNING_KEY_FILE: signingKeyFile,
          DEVICES: 'demo/kiosk-01',
        }),
    });
    try {
      const summary = await runDemo(environment, {
        input: RECORDING,
        output: join(folder, 'heard.wav'),
        inputMs: 6000,
        faults: ['revoke'],
        clock: createSystemClock(),
        log: NO_LOG,
        abort: new AbortController().signal,
        view: { update: silent, showPages: silent, close: silent },
      });
      expect(summary.sessions).toBe(2);
      expect(summary.revocations).toBe(1);
      expect(summary.played_ms).toBeGreaterThan(1000);
      expect(url).toMatch(/^http:/);
    } finally {
      await environment.close();
    }
  });

  it('answers once per id, refuses unknown devices, and survives invalid messages', async () => {
    const environment = await openEnvironment({
      startService: ({ apiKey }) => startEmulator({ apiKeys: [apiKey] }),
      startBackend: ({ brokerUrl, serviceUrl, apiKey }) =>
        startExample({ BROKER: brokerUrl, SERVICE_URL: serviceUrl, API_KEY: apiKey, DEVICES: 'museum/a' }),
    });
    const client = await connectAsync(environment.brokerUrl);
    try {
      await client.subscribeAsync('dragoman/v1/+/+/token/res');
      const request = {
        id: 'x1',
        lane: 'main',
        intent: 's2s',
        connection_type: 'ws',
        reason: 'start',
        attempt: 1,
      };
      for (const hostile of ['', 'null', '{', '[]', '"text"', '{"id":{}}'])
        await client.publishAsync('dragoman/v1/museum/a/token/req', hostile);
      const first = await ask(client, 'museum/a', request);
      const again = await ask(client, 'museum/a', { ...request, attempt: 2 });
      const other = await ask(client, 'museum/b', request);
      const probe = await ask(client, 'museum/a', { ...request, id: 'x2', probe: 'backend' });
      expect(tokenResponseSchema.parse(first)).toMatchObject({ ok: true, session: { status: 'pending' } });
      expect(again).toEqual(first);
      expect(tokenResponseSchema.parse(other)).toMatchObject({ ok: false, error: { final: true } });
      expect(probe).toMatchObject({ id: 'x2', ok: true, probe: { session: 'none' } });
      expect(JSON.stringify([other, probe])).not.toContain('"token"');
    } finally {
      await client.endAsync(true);
      await environment.close();
    }
  });
});

/** The answer to the device's request id. */
async function ask(
  client: MqttClient,
  device: string,
  request: { id: string; [field: string]: unknown },
): Promise<unknown> {
  const topic = `dragoman/v1/${device}/token/`;
  const answer = new Promise((resolve) => {
    const hear = (from: string, payload: Buffer): void => {
      const body = JSON.parse(payload.toString()) as { id?: unknown };
      if (from !== `${topic}res` || body.id !== request.id) return;
      client.off('message', hear);
      resolve(body);
    };
    client.on('message', hear);
  });
  await client.publishAsync(`${topic}req`, JSON.stringify(request));
  return answer;
}
