/** apt on a device, with state of its own, and a repository that changes under it. */
import { copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReleaseFixture } from '../deb/repository-fixture.ts';
import { boot, type Machine, type Output, type Shared } from './container.ts';
import type { Debian } from './setup.ts';

const SERVER = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));
const PORT = 8081;
/** The fixture's folder in the container. */
const SHOWN = '/mnt';
const PLACE = '/srv/apt';
/** Silence of a server after which apt gives up (s). */
const SILENCE_S = 3;

/** Where the server misbehaves: patterns of paths. */
export interface Steering {
  readonly endless?: string;
  readonly stalled?: string;
  readonly missing?: string;
  /** A page of a Wi-Fi network for every path. */
  readonly portal?: boolean;
}

export interface AptDevice {
  readonly machine: Machine;
  /** Forgets all state. The device trusts these keys, files of the fixture. */
  reset(keys: readonly string[], uri?: string): Promise<void>;
  /** Replaces what the server has by a folder of the fixture. */
  serve(folder: string): void;
  steer(steering: Steering): Promise<void>;
  /** Ends the server. */
  disconnect(): Promise<void>;
  /** Bytes that the server has sent since `steer`. */
  bytes(): Promise<number>;
  /** `apt-get update`; any trouble is an error. */
  update(env?: Readonly<Record<string, string>>): Promise<Output>;
  /** `apt-get download`, in an empty folder. */
  download(what: string): Promise<Output>;
  /** The version that would be installed. */
  candidate(name?: string): Promise<string>;
  /** The files that it goes by, with checksums. */
  state(): Promise<string>;
  /** Files that a download left. */
  downloaded(): Promise<string[]>;
  close(): Promise<void>;
}

export const OVER_HTTP = `http://127.0.0.1:${PORT}/`;
export const ON_STICK = `copy:${SHOWN}/served`;

export async function openAptDevice(
  debian: Extract<Debian, { missing: null }>,
  fixture: ReleaseFixture,
  shared: readonly Shared[] = [],
): Promise<AptDevice> {
  copyFileSync(SERVER, join(fixture.folder, 'server.mjs'));
  const served = join(fixture.folder, 'served');
  mkdirSync(served);
  const machine = await boot(debian, [{ from: fixture.folder, to: SHOWN }, ...shared]);
  const sh = (script: string, ...words: string[]) => machine.run(['sh', '-c', script, 'sh', ...words]);
  const node = 'require("http")';
  const ask = (path: string, body?: string) =>
    machine.must(
      [
        'node',
        '-e',
        `const r=${node}.request(process.argv[1],{method:process.argv[2]?"POST":"GET"},(a)=>a.pipe(process.stdout));r.end(process.argv[2])`,
      ].concat(`http://127.0.0.1:${PORT}${path}`, body ?? []),
    );
  const apt = (env: Readonly<Record<string, string>>, ...words: string[]) =>
    sh(
      `mkdir -p ${PLACE}/downloads; cd ${PLACE}/downloads; exec env "$@"`,
      `APT_CONFIG=${PLACE}/apt.conf`,
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
      ...words,
    );
  await machine.must([
    'systemd-run',
    '--quiet',
    '--unit=updates',
    '/usr/bin/env',
    'node',
    `${SHOWN}/server.mjs`,
    String(PORT),
    `${SHOWN}/served`,
  ]);
  await sh(
    `for i in $(seq 600); do node -e 'require("net").connect(${PORT}).on("error",()=>process.exit(1)).on("connect",()=>process.exit(0))' && exit 0; sleep 0.1; done; exit 1`,
  );
  return {
    machine,
    async reset(keys, uri = OVER_HTTP) {
      await sh(
        `rm -rf ${PLACE}; mkdir -p ${PLACE}/empty ${PLACE}/state/lists/partial ${PLACE}/cache/archives/partial; : >${PLACE}/status`,
      );
      const files = keys.map((key) => key.replace(fixture.folder, SHOWN));
      await machine.must(['sh', '-c', `cat "$@" >${PLACE}/keys.gpg`, 'sh', ...files]);
      await machine.write(
        `${PLACE}/source.sources`,
        `Types: deb\nURIs: ${uri}\nSuites: stable\nComponents: main\nSigned-By: ${PLACE}/keys.gpg\n`,
      );
      await machine.write(`${PLACE}/apt.conf`, CONFIG);
      await ask('/steer', '{}');
    },
    serve(folder) {
      rmSync(served, { recursive: true });
      cpSync(join(fixture.folder, folder), served, { recursive: true, preserveTimestamps: true });
    },
    steer: async (steering) => void (await ask('/steer', JSON.stringify(steering))),
    disconnect: async () => void (await machine.must(['systemctl', 'stop', 'updates'])),
    bytes: async () => Number(await ask('/bytes')),
    update: (env = {}) => apt(env, 'apt-get', 'update', '-o', 'APT::Update::Error-Mode=any'),
    download: (what) => apt({}, 'apt-get', 'download', what),
    async candidate(name = 'dragoman') {
      const { stdout } = await apt({}, 'apt-cache', 'policy', name);
      return /Candidate: (.*)/.exec(stdout)?.[1] ?? 'none';
    },
    state: () =>
      machine.must([
        'sh',
        '-c',
        `cd ${PLACE}; find state/lists -maxdepth 1 -type f -not -name lock | sort | xargs -r sha256sum`,
      ]),
    downloaded: async () => (await sh(`ls ${PLACE}/downloads`)).stdout.split('\n').filter(Boolean),
    close: () => machine.stop(),
  };
}

/** Nothing of the machine's own apt: no lock, no lists, no settings that an administrator may have relaxed. */
const CONFIG = `
Dir::State "${PLACE}/state";
Dir::State::status "${PLACE}/status";
Dir::Cache "${PLACE}/cache";
Dir::Etc::sourcelist "${PLACE}/source.sources";
Dir::Etc::sourceparts "${PLACE}/empty";
Dir::Etc::parts "${PLACE}/empty";
Dir::Etc::preferences "/nonexistent";
Dir::Etc::preferencesparts "${PLACE}/empty";
Dir::Etc::trusted "/nonexistent";
Dir::Etc::trustedparts "${PLACE}/empty";
Acquire::Check-Valid-Until "true";
Acquire::Languages "none";
Acquire::Retries "0";
Acquire::http::Timeout "${SILENCE_S}";
APT::Sandbox::User "root";
`;
