/** The owner's side of a device, as programs on this machine's loopback: mosquitto with TLS, backend, emulator. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMosquitto, findOpenssl } from '../adapters/mqtt/mosquitto.ts';
import { freePort } from '../free-port.ts';
import { ask, type OwnerClient, watch } from './owner-client.ts';
import { backendSettings, brokerFile, emulatorWords, makeFolder } from './owner-folder.ts';
import { startTokenRelay, type TokenRelay } from './token-relay.ts';

const START_LIMIT_MS = 60_000;

export interface OwnerOptions {
  /** Folder of the bundles. */
  readonly bundles: string;
  /** Names and addresses of broker and service for the device, beside 127.0.0.1. The certificates contain them. */
  readonly names?: readonly string[];
  /** Further arguments of the emulator. */
  readonly emulator?: readonly string[];
  /** Address of streams for the device. Default: the emulator's port on 127.0.0.1. */
  readonly streamHost?: string;
  /** Phrases with their translations. Default: those of the emulator. */
  readonly phrases?: readonly Readonly<Record<string, string>>[];
}

export interface Owner extends Omit<OwnerClient, 'end'> {
  readonly folder: string;
  readonly brokerPort: number;
  readonly servicePort: number;
  /** Folder of the device's login: broker-ca.crt, mqtt-password. */
  readonly login: string;
  /** Tokens of all sessions. */
  readonly tokens: readonly string[];
  /** Orders a fault of the service. */
  fault(order: object): Promise<void>;
  /** Requests a tool path of the service. */
  service(path: string, body?: object): Promise<Buffer>;
  stopBroker(): Promise<void>;
  startBroker(): Promise<void>;
  /** The broker's file of stored messages. */
  brokerStore(): Buffer;
  close(): Promise<void>;
}

/** @returns why the programs cannot run here; null if they can */
export function whatOwnerLacks(): string | null {
  if (findMosquitto() === null) return 'no mosquitto (mosquitto)';
  return findOpenssl() ? null : 'no openssl (openssl)';
}

export async function startOwner(options: OwnerOptions): Promise<Owner> {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-owner-'));
  const folder = join(root, 'museum');
  const [brokerPort, peoplePort, servicePort] = [await freePort(), await freePort(), await freePort()];
  makeFolder(options.bundles, folder, { names: options.names ?? [], brokerPort, peoplePort });
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
    const phrases = join(root, 'phrases.json');
    if (options.phrases !== undefined) writeFileSync(phrases, JSON.stringify(options.phrases));
    const emulator = [
      ...emulatorWords(folder, servicePort),
      ...(options.phrases === undefined ? [] : ['--phrases', phrases]),
      ...(options.emulator ?? []),
    ];
    await start([process.execPath, join(options.bundles, 'emulator.mjs'), ...emulator], /listening/);
    const server = { certificate: join(folder, 'broker/server.crt'), key: join(folder, 'broker/server.key') };
    relay = await startTokenRelay(servicePort, { ...server, authority: join(folder, 'authority/ca.crt') });
    const backendFolder = join(folder, 'logins/backend');
    const streamHost = options.streamHost ?? `127.0.0.1:${servicePort}`;
    const backendEnv = backendSettings(relay.port, streamHost);
    const words = [process.execPath, join(options.bundles, 'backend.mjs'), 'run', '--config', 'backend.json'];
    await start(words, /listening for token requests/, backendEnv, backendFolder);
    const anna = join(folder, 'logins/anna');
    const ca = readFileSync(join(anna, 'broker-ca.crt'));
    const person = await watch(peoplePort, anna);
    const owner: Owner = {
      ...person,
      tokens: relay.tokens,
      folder,
      brokerPort,
      servicePort,
      login: join(folder, 'logins/museum.kiosk-01'),
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
  brokerFile(folder),
];

/** Starts a program that prints a word when it is ready. */
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
