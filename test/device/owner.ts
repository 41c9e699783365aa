/** The owner's side of one device, as programs of their own on this machine's loopback: mosquitto with TLS, backend, emulator. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMosquitto, findOpenssl } from '../adapters/mqtt/fixture.ts';
import { freePort } from '../backend/broker/fixture.ts';
import { ask, type Line, watch } from './owner-line.ts';
import { startTokenRelay, type TokenRelay } from './token-relay.ts';

export const API_KEY = 'api-key-of-the-tests';
const START_LIMIT_MS = 60_000;

export interface OwnerOptions {
  /** The folder of the bundles. */
  readonly bundles: string;
  /** How broker and service are called where the device is, beside 127.0.0.1; names and addresses of the certificate. */
  readonly names?: readonly string[];
  /** More words for the emulator. */
  readonly emulator?: readonly string[];
  /** Where streams go, as the device sees it; left out: the emulator's own port on 127.0.0.1. */
  readonly streamHost?: string;
  /** Of what was said and its translation; else those of the emulator. */
  readonly phrases?: readonly Readonly<Record<string, string>>[];
}

export interface Owner extends Omit<Line, 'end'> {
  readonly folder: string;
  readonly brokerPort: number;
  readonly servicePort: number;
  /** What was handed out for the device: broker-ca.crt, mqtt-password. */
  readonly login: string;
  /** Of all sessions that were made. */
  readonly tokens: readonly string[];
  /** Steers the service. */
  fault(order: object): Promise<void>;
  /** What the service answers at its tool paths. */
  service(path: string, body?: object): Promise<Buffer>;
  stopBroker(): Promise<void>;
  startBroker(): Promise<void>;
  /** What the broker has written to its disk. */
  brokerStore(): Buffer;
  close(): Promise<void>;
}

/** Why there can be no owner here; null where there can. */
export function whatOwnerLacks(): string | null {
  if (findMosquitto() === null) return 'no mosquitto (mosquitto)';
  return findOpenssl() ? null : 'no openssl (openssl)';
}

export async function startOwner(options: OwnerOptions): Promise<Owner> {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-owner-'));
  const folder = join(root, 'museum');
  const [brokerPort, peoplePort, servicePort] = [await freePort(), await freePort(), await freePort()];
  const backendBundle = (...words: string[]) =>
    execFileSync(process.execPath, [join(options.bundles, 'backend.mjs'), ...words], { cwd: root });
  const ports = ['--device-port', String(brokerPort), '--people-port', String(peoplePort)];
  const at = ['--host', '127.0.0.1', '--listen', '127.0.0.1'];
  backendBundle(
    'broker',
    'init',
    folder,
    '--tenant',
    'museum',
    ...at,
    ...ports,
    '--person',
    'anna=administrator',
  );
  backendBundle('devices', 'add', 'kiosk-01', '--broker', folder);
  certify(folder, [
    'IP:127.0.0.1',
    ...(options.names ?? []).map((name) => `${/^\d/.test(name) ? 'IP' : 'DNS'}:${name}`),
  ]);
  // It would change to a user of its own, who cannot read this folder.
  if (process.getuid?.() === 0) appendFileSync(join(folder, 'broker/mosquitto.conf'), 'user root\n');
  const children: ChildProcess[] = [];
  let relay: TokenRelay | null = null;
  const close = async (): Promise<void> => {
    relay?.close();
    for (const child of children) child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  };
  try {
    const start = async (words: readonly string[], ready: RegExp, env: object = {}, cwd = root) => {
      const child = await startChild(words, ready, env, cwd);
      children.push(child);
      return child;
    };
    let broker = await start(brokerWords(folder), /running/);
    const tls = [
      '--tls-cert',
      join(folder, 'broker/server.crt'),
      '--tls-key',
      join(folder, 'broker/server.key'),
    ];
    const phrases = join(root, 'phrases.json');
    if (options.phrases !== undefined) writeFileSync(phrases, JSON.stringify(options.phrases));
    const emulator = [
      ...['run', '--port', String(servicePort), '--api-key', API_KEY],
      ...(options.phrases === undefined ? [] : ['--phrases', phrases]),
      ...tls,
      ...(options.emulator ?? []),
    ];
    await start([process.execPath, join(options.bundles, 'emulator.mjs'), ...emulator], /listening/);
    const server = { certificate: join(folder, 'broker/server.crt'), key: join(folder, 'broker/server.key') };
    relay = await startTokenRelay(servicePort, { ...server, authority: join(folder, 'authority/ca.crt') });
    const backendFolder = join(folder, 'logins/backend');
    writeFileSync(join(backendFolder, 'api-key'), API_KEY, { mode: 0o600 });
    const streamHost = options.streamHost ?? `127.0.0.1:${servicePort}`;
    const backendEnv = {
      DRAGOMAN_BACKEND_ALLOW: 'museum/*',
      DRAGOMAN_BACKEND_SERVICE_URL: `https://127.0.0.1:${relay.port}`,
      DRAGOMAN_BACKEND_SERVICE_STREAM_URL: `wss://${streamHost}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
      DRAGOMAN_BACKEND_SERVICE_API_KEY_FILE: 'api-key',
      DRAGOMAN_BACKEND_SERVICE_CA_FILE: 'broker-ca.crt',
      DRAGOMAN_BACKEND_LIMITS_SESSIONS_PER_HOUR: '3600',
      DRAGOMAN_BACKEND_LIMITS_SESSIONS_AT_ONCE: '64',
    };
    const words = [process.execPath, join(options.bundles, 'backend.mjs'), 'run', '--config', 'backend.json'];
    await start(words, /listening for token requests/, backendEnv, backendFolder);
    const anna = join(folder, 'logins/anna');
    const ca = readFileSync(join(anna, 'broker-ca.crt'));
    const person = await watch(peoplePort, anna);
    const owner: Owner = {
      ...person,
      tokens: relay.tokens,
      ...{ folder, brokerPort, servicePort, login: join(folder, 'logins/museum.kiosk-01') },
      fault: async (order) => void (await owner.service('/emulator/faults', order)),
      service: (path, body) => ask(servicePort, ca, path, body),
      async stopBroker() {
        const gone = once(broker, 'close');
        broker.kill('SIGTERM');
        await gone;
      },
      async startBroker() {
        broker = await start(brokerWords(folder), /running/);
      },
      brokerStore: () => execFileSync('tar', ['-cC', join(folder, 'broker'), '.'], { maxBuffer: 2 ** 28 }),
      async close() {
        await person.end();
        await close();
      },
    };
    return owner;
  } catch (error) {
    await close();
    throw error;
  }
}

const brokerWords = (folder: string): string[] => [
  findMosquitto() ?? 'mosquitto',
  '-v',
  '-c',
  join(folder, 'broker/mosquitto.conf'),
];

/** Starts a program that says a word when it is ready. */
async function startChild(
  words: readonly string[],
  ready: RegExp,
  env: object,
  cwd: string,
): Promise<ChildProcess> {
  const [program = '', ...rest] = words;
  const child = spawn(program, rest, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`${words.join(' ')} is not ready: ${said}`)),
      START_LIMIT_MS,
    );
    const listen = (text: string): void => {
      said = (said + text).slice(-4000);
      if (!ready.test(said)) return;
      clearTimeout(late);
      resolve();
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', listen);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`${words.join(' ')} ended with ${code}: ${said}`));
    });
  });
  return child;
}

/** Broker and service get a certificate for each name that the device may know them by, of the authority that was set up. */
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
