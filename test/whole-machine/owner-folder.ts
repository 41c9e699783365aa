/** The set-up of a device's owner: rules, logins and certificates by `dragoman-backend`, and the programs' arguments. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const API_KEY = 'api-key-of-the-tests';

/** @param folder the folder to make; its parent exists */
export function makeFolder(
  bundles: string,
  folder: string,
  where: {
    readonly names: readonly string[];
    readonly brokerPort: number;
    readonly peoplePort: number;
    /** Address on which the broker listens. Default: loopback. */
    readonly listen?: string;
  },
): void {
  const { names, brokerPort, peoplePort, listen = '127.0.0.1' } = where;
  const backend = (...words: string[]) =>
    execFileSync(process.execPath, [join(bundles, 'backend.mjs'), ...words], { cwd: dirname(folder) });
  const ports = ['--device-port', String(brokerPort), '--people-port', String(peoplePort)];
  const at = ['--host', '127.0.0.1', '--listen', listen];
  const anna = ['--person', 'anna=administrator'];
  backend('broker', 'init', folder, '--tenant', 'museum', ...at, ...ports, ...anna);
  backend('devices', 'add', 'kiosk-01', '--broker', folder);
  const kinds = names.map((name) => `${/^\d/.test(name) ? 'IP' : 'DNS'}:${name}`);
  certify(folder, ['IP:127.0.0.1', ...kinds]);
  // As root, mosquitto would change to its own user, who cannot read this folder.
  if (process.getuid?.() === 0) appendFileSync(brokerFile(folder), 'user root\n');
  writeFileSync(join(folder, 'logins/backend/api-key'), API_KEY, { mode: 0o600 });
}

export const brokerFile = (folder: string): string => join(folder, 'broker/mosquitto.conf');

/** Arguments of the emulator. */
export const emulatorWords = (folder: string, port: number): string[] => [
  'run',
  '--port',
  String(port),
  '--api-key',
  API_KEY,
  '--tls-cert',
  join(folder, 'broker/server.crt'),
  '--tls-key',
  join(folder, 'broker/server.key'),
];

/** Environment of the backend, which runs in `logins/backend` with the file backend.json there. */
export const backendSettings = (servicePort: number, streamHost: string): Record<string, string> => ({
  DRAGOMAN_BACKEND_ALLOW: 'museum/*',
  DRAGOMAN_BACKEND_SERVICE_URL: `https://127.0.0.1:${servicePort}`,
  DRAGOMAN_BACKEND_SERVICE_STREAM_URL: `wss://${streamHost}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
  DRAGOMAN_BACKEND_SERVICE_API_KEY_FILE: 'api-key',
  DRAGOMAN_BACKEND_SERVICE_CA_FILE: 'broker-ca.crt',
  DRAGOMAN_BACKEND_LIMITS_SESSIONS_PER_HOUR: '3600',
  DRAGOMAN_BACKEND_LIMITS_SESSIONS_AT_ONCE: '64',
});

/** Issues certificates for broker and service from the set-up's authority, for all names that the device uses. */
function certify(folder: string, names: readonly string[]): void {
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
  const made = mkdtempSync(join(tmpdir(), 'dragoman-certificate-'));
  writeFileSync(join(made, 'names'), `subjectAltName=${names.join(',')}\n`);
  const [request, certificate] = [join(made, 'csr'), join(made, 'crt')];
  openssl('req', '-new', '-key', 'broker/server.key', '-subj', '/CN=owner', '-out', request);
  const by = ['-CA', 'authority/ca.crt', '-CAkey', 'authority/ca.key', '-set_serial', '2', '-days', '30'];
  openssl('x509', '-req', '-in', request, ...by, '-extfile', join(made, 'names'), '-out', certificate);
  copyFileSync(certificate, join(folder, 'broker/server.crt'));
  rmSync(made, { recursive: true });
}
