/** PostgreSQL of Debian on loopback, in a temporary folder, as an ordinary user. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../free-port.ts';
import { onceARun } from '../../once-a-run.ts';

const DEBIAN = '/usr/lib/postgresql';
/** `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 };
export const PASSWORD = 'a password for the store';

/** The folder of its programs; null if it is not installed. */
export function findPostgres(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : [];
  const newest = Math.max(0, ...versions.filter((version) => existsSync(`${DEBIAN}/${version}/bin/initdb`)));
  return newest >= 15 ? `${DEBIAN}/${newest}/bin` : null;
}
/** For the names of skipped tests. */
export const NO_POSTGRES = 'skipped: "apt install postgresql" is missing';

export interface PostgresServer {
  /** Address of a new, empty database. */
  createDatabase(): Promise<string>;
  /** Lets `createDatabase` empty and return the databases so far: making one takes longer. */
  reuseDatabases(): void;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends the server at once, and deletes its folder. */
  remove(): Promise<void>;
}

export async function startPostgres(bin: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-postgres-'));
  const user: Partial<typeof NOBODY> = process.getuid?.() === 0 ? NOBODY : {};
  const data = join(folder, 'data');
  if (user.uid !== undefined) chownSync(folder, user.uid, NOBODY.gid);
  const fresh = await onceARun('postgres', (place) => makeCluster(bin, place, user));
  spawnSync('cp', ['-a', join(fresh, 'data'), data]);
  const port = await freePort();
  let child: ChildProcess | null = null;
  let databases = 0;
  const reusable: string[] = [];
  const used: string[] = [];

  const start = async (): Promise<void> => {
    const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
    child = spawn(join(bin, 'postgres'), [...options, '-c', 'max_connections=200', '-c', 'fsync=off'], {
      cwd: folder,
      stdio: 'ignore',
      ...user,
    });
    for (let tries = 0; tries < 600; tries += 1) {
      if (await answers(join(bin, 'pg_isready'), port)) return;
      await sleep(50);
    }
    throw new Error('PostgreSQL does not start');
  };
  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    child = null;
  };
  await start();

  return {
    async createDatabase() {
      const old = reusable.pop();
      if (old !== undefined) {
        await empty(old);
        used.push(old);
        return old;
      }
      databases += 1;
      const name = `store_${databases}`;
      const words = ['-h', '127.0.0.1', '-p', String(port), '-U', 'dragoman', name];
      const env = { ...process.env, PGPASSWORD: PASSWORD };
      const created = spawnSync(join(bin, 'createdb'), words, { env, encoding: 'utf8' });
      if (created.status !== 0) throw new Error(`createdb: ${created.stderr}`);
      const url = `postgres://dragoman@127.0.0.1:${port}/${name}`;
      used.push(url);
      return url;
    },
    reuseDatabases: () => void reusable.push(...used.splice(0)),
    start,
    stop: () => end('SIGINT'),
    async remove() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Making a cluster takes seconds, copying an empty one does not. */
function makeCluster(bin: string, folder: string, user: Partial<typeof NOBODY>): void {
  const password = join(folder, 'password');
  writeFileSync(password, PASSWORD);
  if (user.uid !== undefined) for (const path of [folder, password]) chownSync(path, user.uid, NOBODY.gid);
  const words = ['-D', join(folder, 'data'), '-U', 'dragoman', '--auth=scram-sha-256', '-E', 'UTF8'];
  const made = spawnSync(join(bin, 'initdb'), [...words, '--no-sync', `--pwfile=${password}`], {
    cwd: folder,
    encoding: 'utf8',
    ...user,
  });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
}

async function empty(url: string): Promise<void> {
  const { hostname: host, port, username: user, pathname } = new URL(url);
  const client = new pg.Client({
    host,
    port: Number(port),
    user,
    password: PASSWORD,
    database: pathname.slice(1),
  });
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.end();
}

async function answers(isReady: string, port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  socket.destroy();
  return isOpen && spawnSync(isReady, ['-q', '-h', '127.0.0.1', '-p', String(port)]).status === 0;
}
