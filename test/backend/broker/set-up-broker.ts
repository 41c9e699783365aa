/** A mosquitto set up by `dragoman-backend broker init`, and plain MQTT clients. */

import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import { expect } from 'vitest';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { freePort } from '../../free-port.ts';
import { gather } from '../../gathered.ts';

/** A pattern for `toMatchObject`, which treats a plain RegExp as an object without fields. */
export const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line of `dragoman-backend`. */
export async function backend(
  argv: readonly string[],
  env: Record<string, string> = { PATH: process.env['PATH'] ?? '' },
): Promise<Ran> {
  const { said, print, complain } = gather();
  const exitCode = await runBackendProgram(argv, {
    env,
    output: Object.assign(new PassThrough(), { fd: 1, isTTY: false }),
    signals: new EventEmitter(),
    print,
    complain,
  });
  return { exitCode, ...said };
}

export type Form = 'dynsec' | 'acl';
export type DeviceLogin = 'password' | 'certificate';

export interface SetUp {
  /** The folder of the set-up. */
  readonly folder: string;
  readonly devicePort: number;
  readonly peoplePort: number;
  /** Folder of a login. */
  login(name: string): string;
  /** Connection options of a device, the backend or a person, plus `more`. */
  options(name: string, more?: IClientOptions): IClientOptions;
  connect(name: string, more?: IClientOptions): Promise<Client>;
  start(): Promise<void>;
  /** Lets mosquitto read its files again. */
  reload(): void;
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** A client and the messages that it has received. */
export interface Client {
  readonly mqtt: MqttClient;
  readonly got: { readonly topic: string; readonly text: string }[];
  readonly closed: () => boolean;
}

/** In the tenant `museum`, with the devices kiosk-01 and kiosk-02 in the group lobby, kiosk-03 in none. */
export async function setUpBroker(form: Form, deviceLogin: DeviceLogin): Promise<SetUp> {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-broker-'));
  const folder = join(root, 'museum');
  const [devicePort, peoplePort] = [await freePort(), await freePort()];
  const at = ['--host', '127.0.0.1', '--listen', '127.0.0.1'];
  const ports = ['--device-port', String(devicePort), '--people-port', String(peoplePort)];
  const kind = ['--form', form, '--device-login', deviceLogin];
  for (const line of [
    ['broker', 'init', folder, '--tenant', 'museum', ...at, ...ports, ...kind],
    ['devices', 'add', 'kiosk-01', 'kiosk-02', '--group', 'lobby', '--broker', folder],
    ['devices', 'add', 'kiosk-03', '--broker', folder],
  ]) {
    const ran = await backend(line);
    if (ran.exitCode !== 0) throw new Error(ran.err);
  }
  let child: ChildProcess | null = null;
  const clients: MqttClient[] = [];
  const login = (name: string): string => join(folder, 'logins', name);
  const file = (name: string, part: string): Buffer => readFileSync(join(login(name), part));
  const options = (name: string, more: IClientOptions = {}): IClientOptions => {
    const isDevice = name.includes('.');
    const withCertificate = isDevice && deviceLogin === 'certificate';
    return {
      protocol: 'mqtts',
      host: '127.0.0.1',
      port: isDevice ? devicePort : peoplePort,
      protocolVersion: 5,
      reconnectPeriod: 0,
      connectTimeout: 60_000,
      ca: file(name, 'broker-ca.crt'),
      username: name,
      clientId: isDevice ? name : `${name}-${Math.random().toString(36).slice(2)}`,
      ...(withCertificate
        ? { cert: file(name, 'mqtt.crt'), key: file(name, 'mqtt.key') }
        : { password: file(name, 'mqtt-password') }),
      ...more,
    };
  };
  const stop = async (): Promise<void> => {
    const ended = child;
    child = null;
    if (ended === null || ended.exitCode !== null) return;
    const gone = new Promise((resolve) => ended.once('exit', resolve));
    ended.kill();
    await gone;
  };
  return {
    folder,
    devicePort,
    peoplePort,
    login,
    options,
    stop,
    async connect(name, more) {
      const mqtt = await connectAsync({ ...options(name, more) });
      const got: Client['got'] = [];
      let isClosed = false;
      mqtt.on('message', (topic, payload) => got.push({ topic, text: payload.toString() }));
      mqtt.on('close', () => {
        isClosed = true;
      });
      mqtt.on('error', () => {});
      clients.push(mqtt);
      return { mqtt, got, closed: () => isClosed };
    },
    async start() {
      const conf = join(folder, 'broker', 'mosquitto.conf');
      // As root, mosquitto would change to its own user, who cannot read this folder.
      if (process.getuid?.() === 0 && !readFileSync(conf, 'utf8').includes('user root'))
        appendFileSync(conf, 'user root\n');
      const started = spawn('mosquitto', ['-c', conf], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
      });
      let said = '';
      started.stderr.on('data', (part) => {
        said += String(part);
      });
      child = started;
      for (const port of [devicePort, peoplePort]) {
        if (!(await listens(port, started))) throw new Error(`mosquitto does not start: ${said}`);
      }
    },
    reload: () => void child?.kill('SIGHUP'),
    async close() {
      for (const mqtt of clients) mqtt.end(true);
      await stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function listens(port: number, child: ChildProcess): Promise<boolean> {
  for (let tries = 0; tries < 2000 && child.exitCode === null; tries += 1) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connectTcp(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (reached) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
