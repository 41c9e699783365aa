/** Certificates that OpenSSL refuses, and servers that use them; made with its command, because no library here signs with SHA-1. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';

export interface WeakCertificates {
  /** Path of a file: `ca.crt`, and `.crt` and `.key` of `good`, `sha1` and `small` (512 bits). */
  at(name: string): string;
  read(name: string): Buffer;
  remove(): void;
}

export function makeWeakCertificates(): WeakCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-weak-'));
  const openssl = (...words: string[]): void => {
    execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' });
  };
  openssl(
    'req',
    '-x509',
    '-nodes',
    '-newkey',
    'rsa:2048',
    '-subj',
    '/CN=Test CA',
    '-days',
    '30',
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
  );
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const issue = (name: string, bits: number, digest: string): void => {
    const subject = ['-nodes', '-newkey', `rsa:${bits}`, '-subj', '/CN=localhost'];
    openssl('req', ...subject, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '30',
      digest,
      '-extfile',
      'names',
      '-out',
      `${name}.crt`,
    );
  };
  issue('good', 2048, '-sha256');
  issue('sha1', 2048, '-sha1');
  issue('small', 512, '-sha256');
  return {
    at: (name) => join(folder, name),
    read: (name) => readFileSync(join(folder, name)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** As lax as an old server. */
export const OLD_SERVER: TlsOptions = { ciphers: 'DEFAULT@SECLEVEL=0' };

/** A TLS server that hangs up on everybody. */
export async function serveTls(options: TlsOptions): Promise<{ port: number; close(): void }> {
  const server = createServer(options, (socket) => {
    socket.on('error', () => {});
    socket.end();
  });
  server.on('tlsClientError', () => {});
  return { port: await portOf(server), close: () => void server.close() };
}

export function portOf(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}
