/** Runs probe.ts in a network of its own, whose far side answers late (far-side.py). */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleProgram } from '../../../scripts/bundle-program.mjs';
import type { ReachFacts } from '../../../src/device/doctor/network/reach-rules.ts';

export interface ProbeOptions {
  /** The host name in every address. */
  readonly name: string;
  /** Addresses of every name. */
  readonly addresses: readonly string[];
  /** Time that the name server takes (milliseconds). */
  readonly lookupMs: number;
}

export interface FarNetwork {
  /** One way, milliseconds. */
  readonly delayMs: number;
  /** Addresses whose packets vanish. */
  readonly dropped: readonly string[];
}

export interface Probed {
  /** Milliseconds until each kind of connection was up, or why it failed. */
  readonly took: Readonly<Record<'mqtt' | 'mqtts' | 'wss' | 'stream' | 'http' | 'clock', number | string>>;
  /** What the doctor finds. */
  readonly facts: ReachFacts;
  /** The names that were looked up. */
  readonly asked: readonly string[];
}

/** Names in the certificate of the servers. */
const NAMES = ['broker.example', 'xn--msli-0ra.example'];
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child'];

/** Why no such network can be made here; null: it can. */
export function farNetworkTrouble(): string | null {
  const tools = ['unshare --version', 'ip -V', 'python3 --version', 'openssl version'];
  const missing = tools.filter((tool) => spawnSync('sh', ['-c', tool]).status !== 0);
  if (missing.length > 0) return `not installed: ${missing.map((tool) => tool.split(' ')[0]).join(', ')}`;
  const test = 'ip link set lo up && ip tuntap add mode tun name far && ip -6 addr add fd00:9::1/64 dev far';
  const tried = spawnSync('unshare', [...NAMESPACES, 'sh', '-c', test], { encoding: 'utf8' });
  return tried.status === 0 ? null : `no network of its own: ${tried.stderr.trim()}`;
}

export async function createProbe() {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-network-'));
  const program = join(folder, 'probe.mjs');
  const subject = [
    '-subj',
    '/CN=far side',
    '-addext',
    `subjectAltName=${NAMES.map((name) => `DNS:${name}`)}`,
  ];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-days', '2', ...key, '-keyout', 'key.pem', '-out', 'cert.pem', ...subject],
    { cwd: folder, stdio: 'ignore' },
  );
  writeFileSync(
    program,
    await bundleProgram(join(import.meta.dirname, 'probe.ts'), {
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    }),
  );
  return {
    run({ delayMs, dropped }: FarNetwork, options: ProbeOptions): Promise<Probed> {
      const far = [String(delayMs), ...dropped];
      const words = ['sh', join(import.meta.dirname, 'far-network.sh'), folder, ...far, '--'];
      const child = spawn(
        'unshare',
        [...NAMESPACES, ...words, process.execPath, program, JSON.stringify(options)],
        { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
      );
      let [output, complaints] = ['', ''];
      child.stdout.on('data', (data: Buffer) => (output += data));
      child.stderr.on('data', (data: Buffer) => (complaints += data));
      return new Promise((resolve, reject) => {
        child.on('close', (code) => {
          if (code === 0 && output !== '') resolve(JSON.parse(output) as Probed);
          else reject(new Error(`the probe failed (${code}): ${complaints}`));
        });
      });
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
