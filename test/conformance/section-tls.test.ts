import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Emulator } from '../../src/emulator/server.ts';
import { isLoopback } from '../../src/protocol/host-name.ts';
import { PATHS } from './client.ts';
import { makeTask } from './conversation.ts';
import { useService } from './service.ts';

const service = useService();

/** A self-signed certificate for loopback. */
function makeCertificate(): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-tls-'));
  try {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
    const args = ['req', '-x509', '-days', '2', '-out', 'cert.pem', ...key, ...name];
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
    return { cert: read('cert.pem'), key: read('key.pem') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One request over TLS, with the certificate checked. */
function ask(emulator: Emulator, cert: string, body: object): Promise<{ status: number; json: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' };
    const sent = request(emulator.url + PATHS.sessions, { method: 'POST', ca: cert, headers }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => {
        text += part.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
    });
    sent.once('error', reject);
    sent.end(JSON.stringify(body));
  });
}

/** Opens a stream over TLS, sets a task and resolves with the first `current_task`. */
function runTask(url: string, cert: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { ca: cert });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.once('open', () => {
      socket.send(JSON.stringify({ message_type: 'set_task', data: makeTask() }));
      socket.send(JSON.stringify({ message_type: 'get_task' }));
    });
    socket.on('message', (frame) => {
      const message = JSON.parse(String(frame)) as { message_type: string };
      if (message.message_type !== 'current_task') return;
      socket.close();
      resolve(message);
    });
  });
}

test('4.7: the stream uses wss and everything else https', async (context) => {
  if (!service.own) {
    const { base } = service.client.target;
    if (isLoopback(new URL(base).hostname)) context.skip('on loopback a service may be spoken in clear');
    expect(base, 'a service elsewhere').toMatch(/^https:/);
    expect(service.client.target.streaming).toMatch(/^wss:/);
    return;
  }
  if (spawnSync('openssl', ['version']).error !== undefined) context.skip('needs openssl for a certificate');
  const { startEmulator } = await import('../../src/emulator/server.ts');
  const tls = makeCertificate();
  const emulator = await startEmulator({ tls, setupMs: 0 });
  try {
    expect([emulator.url, emulator.wsUrl]).toEqual([
      expect.stringMatching(/^https:/),
      expect.stringMatching(/^wss:/),
    ]);
    const webrtc = await ask(emulator, tls.cert, { intent: 's2s', connection_type: 'webrtc' });
    expect(webrtc).toMatchObject({
      status: 201,
      json: { data: { webrtc: { url: expect.stringMatching(/^wss:/) } } },
    });
    const { json } = await ask(emulator, tls.cert, { intent: 's2s' });
    const { token } = (json as { data: { token: string } }).data;
    await runTask(`${emulator.wsUrl}${PATHS.stream('x')}?token=${token}`, tls.cert);
    const plain = emulator.url.replace(/^https/, 'http');
    await expect(fetch(plain + PATHS.sessions)).rejects.toThrow();
  } finally {
    await emulator.close();
  }
});
