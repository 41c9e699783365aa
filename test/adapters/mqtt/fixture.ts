/** What the tests of the bus share: a listener that remembers, a relay that fails on demand, a mosquitto of one's own. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus, type MqttBus, type MqttConnection } from '../../../src/adapters/mqtt/bus.ts';
import type { BusListener, BusMessage, BusOptions, BusProblem, LostMessage } from '../../../src/ports/bus.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { freePort } from '../../free-port.ts';

/** Polls until `check` gives something true; the bound is generous and only met by a failure. */
export async function until<T>(check: () => T, what = 'the condition', withinMs = 60_000): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = check();
    if (found) return found;
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export interface Heard {
  readonly ups: { connection: number; protocol: 4 | 5 }[];
  readonly downs: { problem: BusProblem; message: string }[];
  readonly messages: BusMessage[];
  readonly lost: LostMessage[];
  /** What was told of refused subscriptions, each time. */
  readonly refused: (readonly string[])[];
  readonly oversized: { topic: string; bytes: number }[];
  /** All three kinds in the order they came: `up 1`, `down refused`, `message a/b`. */
  readonly order: string[];
}

export function createRecordingListener(): { heard: Heard; listener: BusListener } {
  const heard: Heard = { ups: [], downs: [], messages: [], lost: [], refused: [], oversized: [], order: [] };
  return {
    heard,
    listener: {
      up(connection, protocol) {
        heard.ups.push({ connection, protocol });
        heard.order.push(`up ${connection}`);
      },
      down(problem, message) {
        heard.downs.push({ problem, message });
        heard.order.push(`down ${problem}`);
      },
      message(message) {
        heard.messages.push(message);
        heard.order.push(`message ${message.topic}`);
      },
      refused: (filters) => void heard.refused.push(filters),
      lost: (lost) => void heard.lost.push(lost),
      oversized: (topic, bytes) => void heard.oversized.push({ topic, bytes }),
    },
  };
}

export interface OpenedBus extends Heard {
  readonly bus: MqttBus;
}

/** Opens buses and closes them all at the end of a test. */
export function createTestBuses(clock: Clock = createSystemClock()) {
  const opened: MqttBus[] = [];
  return {
    open(
      connection: Partial<MqttConnection> & { url: string },
      options: Partial<BusOptions> = {},
      seed = 1,
      onMessage: (message: BusMessage) => void = () => {},
    ): OpenedBus {
      const recorder = createRecordingListener();
      const { heard } = recorder;
      const listener: BusListener = {
        ...recorder.listener,
        message(message) {
          recorder.listener.message(message);
          onMessage(message);
        },
      };
      const bus = createMqttBus({ clientId: 'museum.kiosk-01', ...connection }, { clock, seed })(
        { subscriptions: [], will: null, ...options },
        listener,
      );
      opened.push(bus);
      return { bus, ...heard };
    },
    async closeAll(): Promise<void> {
      await Promise.all(opened.splice(0).map((bus) => bus.close()));
    },
  };
}

const listenOnLoopback = (server: Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

export interface Relay {
  readonly port: number;
  /** Cuts what is connected, as a pulled cable that both ends notice. */
  cut(): void;
  /** While on, nothing passes and nobody is told: a black hole. */
  hold(on: boolean): void;
  /** While on, new connections are cut at once. */
  refuse(on: boolean): void;
  close(): Promise<void>;
}

/** The network between client and broker. */
export async function startRelay(targetPort: number): Promise<Relay> {
  const pairs = new Set<[Socket, Socket]>();
  let held = false;
  let refusing = false;
  const server = createServer((near) => {
    if (refusing) return void near.destroy();
    const far = connect(targetPort, '127.0.0.1');
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => held || to.write(bytes));
      from.on('end', () => held || to.end());
      from.on('close', () => held || end());
      from.on('error', () => held || end());
    }
  });
  const port = await listenOnLoopback(server);
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
  };
  return {
    port,
    cut,
    hold: (on) => {
      held = on;
    },
    refuse: (on) => {
      refusing = on;
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export interface ScriptedBroker {
  readonly url: string;
  connections(): number;
  cutAll(): void;
  close(): Promise<void>;
}

/** A broker that answers exactly as told: the first bytes of a client, and then whatever it sends, go to `answer`. */
export async function startScriptedBroker(
  answer: (bytes: Buffer, socket: Socket, connection: number) => void,
): Promise<ScriptedBroker> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const mine = connections;
    sockets.add(socket);
    socket.on('data', (bytes) => answer(bytes, socket, mine));
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listenOnLoopback(server);
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `mqtt://127.0.0.1:${port}`,
    connections: () => connections,
    cutAll,
    close: () => {
      cutAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const MOSQUITTO = ['mosquitto', '/usr/sbin/mosquitto'];

/** The command of an installed mosquitto, or null. */
export function findMosquitto(): string | null {
  return MOSQUITTO.find((command) => spawnSync(command, ['-h']).error === undefined) ?? null;
}

export function findOpenssl(): boolean {
  return spawnSync('openssl', ['version']).error === undefined;
}

export interface Mosquitto {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Has it write its store. */
  save(): void;
  close(): Promise<void>;
}

/** Starts a mosquitto child on a free port. `lines` go into its configuration after the listener. */
export async function startMosquitto(
  command: string,
  lines: (folder: string) => readonly string[] = () => ['allow_anonymous true'],
): Promise<Mosquitto> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-mosquitto-'));
  const extra = lines(folder);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const file = join(folder, 'mosquitto.conf');
    writeFileSync(file, ['persistence false', `listener ${port} 127.0.0.1`, ...extra, ''].join('\n'));
    const child = spawn(command, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    if (await answers(port, child)) {
      return {
        url: `mqtt://127.0.0.1:${port}`,
        port,
        folder,
        save: () => void child.kill('SIGUSR1'),
        close: () => stop(child, folder),
      };
    }
    if (attempt === 5) throw new Error('mosquitto does not start');
  }
}

async function answers(port: number, child: ChildProcess): Promise<boolean> {
  for (let tries = 0; tries < 3000 && child.exitCode === null; tries += 1) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (reached) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.kill();
  return false;
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Makes a throw-away authority with a server and a client certificate in `folder`; paths by name. */
export function makeCertificates(folder: string): Record<'ca' | 'otherCa' | 'server' | 'client', PemPair> {
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = (name: string): void =>
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    );
  const signed = (name: string, extension: string): void => {
    writeFileSync(join(folder, `${name}.ext`), extension);
    openssl(
      'req',
      '-new',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${name}`,
    );
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...by,
      '-out',
      `${name}.crt`,
      '-days',
      '2',
      '-extfile',
      `${name}.ext`,
    );
  };
  authority('ca');
  authority('other-ca');
  signed('server', 'subjectAltName=IP:127.0.0.1\n');
  signed('client', 'extendedKeyUsage=clientAuth\n');
  const pair = (name: string): PemPair => ({
    crt: join(folder, `${name}.crt`),
    key: join(folder, `${name}.key`),
  });
  return { ca: pair('ca'), otherCa: pair('other-ca'), server: pair('server'), client: pair('client') };
}

export interface PemPair {
  readonly crt: string;
  readonly key: string;
}
