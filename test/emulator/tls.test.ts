import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../needs.ts';
import { start } from './started-emulator.ts';

const hasOpenssl = spawnSync('openssl', ['version']).error === undefined;

function makeCertificate(): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'emulator-tls-'));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', '-days', '2', '-out', 'cert.pem', ...key, ...name], {
    cwd: folder,
    stdio: 'ignore',
  });
  const pair = {
    cert: readFileSync(join(folder, 'cert.pem'), 'utf8'),
    key: readFileSync(join(folder, 'key.pem'), 'utf8'),
  };
  rmSync(folder, { recursive: true });
  return pair;
}

test(
  'drop resets a connection over TLS without a close (needs openssl)',
  needs(!hasOpenssl && 'needs openssl'),
  async () => {
    const tls = makeCertificate();
    const emulator = await start({ tls });
    const url = `${emulator.wsUrl}/streaming-api/x/v1/speech-to-speech/stream?token=${emulator.apiKey}`;
    const socket = new WebSocket(url, { ca: tls.cert });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await new Promise((resolve) => socket.once('open', resolve));
    emulator.fault({ kind: 'drop' });
    expect(await closed).toBe(1006);
  },
);
