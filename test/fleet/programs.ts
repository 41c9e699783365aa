/** The programs of the benchmark as processes of their own: broker, emulator, two backends and their store. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { findMosquitto } from '../adapters/mqtt/mosquitto.ts';
import { findPostgres, PASSWORD, startPostgres } from '../backend/store/postgres-server.ts';
import { freePort } from '../free-port.ts';
import { TENANT } from './devices.ts';

const DIST = join(import.meta.dirname, '../../dist');
const API_KEY = 'fleet-key';
const TICKS_PER_S = 100;
const PAGE_BYTES = 4096;

export interface Program {
  readonly name: string;
  /** Processor time (s) and resident memory (bytes) since its start. */
  usage(): { cpuS: number; rssBytes: number };
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface Programs {
  readonly brokerPort: number;
  readonly backends: readonly Program[];
  broker: Program;
  readonly emulator: Program;
  /** What the first backend shows at /metrics. */
  metrics(): Promise<string>;
  emulatorMetrics(): Promise<unknown>;
  restartBroker(): Promise<void>;
  close(): Promise<void>;
}

/** @returns why the benchmark cannot run here; null if it can */
export function missing(store: 'sqlite' | 'postgres'): string | null {
  if (findMosquitto() === null) return '"apt install mosquitto" is missing';
  return store === 'postgres' && findPostgres() === null ? '"apt install postgresql" is missing' : null;
}

export async function startPrograms(store: 'sqlite' | 'postgres', streams: number): Promise<Programs> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-fleet-'));
  const running: ChildProcess[] = [];
  const start = (
    name: string,
    command: string,
    args: readonly string[],
  ): Program & { child: ChildProcess } => {
    const log = openSync(join(folder, `${name}.log`), 'a');
    const child = spawn(command, args, { stdio: ['ignore', name === 'emulator' ? 'pipe' : log, log] });
    closeSync(log);
    running.push(child);
    return {
      name,
      child,
      usage: () => usageOf(child.pid ?? 0),
      async kill(signal) {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, 'exit');
        child.kill(signal);
        await ended;
      },
    };
  };

  const brokerPort = await freePort();
  const conf = join(folder, 'mosquitto.conf');
  const lines = ['persistence true', `persistence_location ${folder}/`, 'max_queued_messages 20000'];
  writeFileSync(
    conf,
    [...lines, 'allow_anonymous true', 'user root', `listener ${brokerPort} 127.0.0.1`, ''].join('\n'),
  );
  const startBroker = async (): Promise<Program> => {
    const broker = start('broker', findMosquitto() ?? '', ['-c', conf]);
    while (!(await isOpen(brokerPort))) await sleep(20);
    return broker;
  };

  const server = store === 'postgres' ? await startPostgres(findPostgres() ?? '') : null;
  const limits = ['--concurrent', String(streams), '--pending', '20000', '--translate', 'silence'];
  const emulator = start('emulator', process.execPath, [
    join(DIST, 'emulator.mjs'),
    'run',
    '--api-key',
    API_KEY,
    ...limits,
  ]);
  const [first] = (await once(
    createInterface({ input: emulator.child.stdout ?? process.stdin }),
    'line',
  )) as [string];
  const service = (JSON.parse(first) as { listening: string }).listening;

  const secret = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const storeConfig =
    server === null
      ? { path: join(folder, 'store.db') }
      : { url: await server.createDatabase(), passwordFile: secret('password', PASSWORD) };
  const apiKeyFile = secret('api-key', API_KEY);
  const startBackend = async (name: string): Promise<Program & { metricsPort: number }> => {
    const metricsPort = await freePort();
    const config = {
      mqtt: { url: `mqtt://127.0.0.1:${brokerPort}` },
      service: {
        url: service,
        streamUrl: `${service.replace('http', 'ws')}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
        apiKeyFile,
      },
      allow: [`${TENANT}/*`],
      store: storeConfig,
      metrics: { listen: `127.0.0.1:${metricsPort}` },
      limits: { createsPerSecond: 200, concurrency: 32, pendingSessions: 20_000 },
      log: { level: 'warn' },
    };
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(config));
    const program = start(name, process.execPath, [
      join(DIST, 'backend.mjs'),
      'run',
      '--config',
      join(folder, `${name}.json`),
    ]);
    for (;;) {
      if (program.child.exitCode !== null) throw new Error(readFileSync(join(folder, `${name}.log`), 'utf8'));
      const ready = await fetch(`http://127.0.0.1:${metricsPort}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (ready) return { ...program, metricsPort };
      await sleep(50);
    }
  };
  const broker = await startBroker();
  const backends = [await startBackend('backend-1'), await startBackend('backend-2')];
  const programs: Programs = {
    brokerPort,
    backends,
    broker,
    emulator,
    metrics: async () => (await fetch(`http://127.0.0.1:${backends[0]?.metricsPort}/metrics`)).text(),
    emulatorMetrics: async () => (await fetch(`${service}/emulator/metrics`)).json(),
    async restartBroker() {
      await programs.broker.kill('SIGTERM');
      programs.broker = await startBroker();
    },
    async close() {
      for (const child of running.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
      await server?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return programs;
}

function usageOf(pid: number): { cpuS: number; rssBytes: number } {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1];
    return {
      cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S,
      rssBytes: Number(pages) * PAGE_BYTES,
    };
  } catch {
    return { cpuS: 0, rssBytes: 0 };
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const opened = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  socket.destroy();
  return opened;
}
