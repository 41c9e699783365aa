import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Debian } from './setup.ts';

/**
 * A container whose process 1 is the systemd of a Debian. Its network has loopback only, and its disk is discarded.
 *
 * It uses this machine's kernel: limits of memory, tasks and devices are not enforced, and there is no sound card.
 */
export interface Machine {
  readonly suite: string;
  /** Runs a program in it as root, for at most `LIMIT_MS`. */
  run(words: readonly string[], input?: string): Promise<Output>;
  /** The same; throws if the program fails. @returns its standard output */
  must(words: readonly string[], input?: string): Promise<string>;
  write(path: string, text: string, mode?: string): Promise<void>;
  /** Whether the booted process 1 still runs. */
  isUp(): boolean;
  /** The id on this machine of a process in the container. */
  hostPid(pid: number): number;
  /** Ends at once, with all its processes. */
  stop(): Promise<void>;
}

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder of this machine, and its path in the container. */
export interface Shared {
  readonly from: string;
  readonly to: string;
  readonly writable?: boolean;
}

const LIMIT_MS = 200_000;
const BOOT_LIMIT_MS = 240_000;
/** Longest time until all its processes are gone (ms): the kernel is slow when processors are busy. */
const END_LIMIT_MS = 60_000;
/** Mount points of cgroups. Each container needs its own group in each, or two containers would share those of their services. */
const CGROUPS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/systemd'];

let count = 0;

export async function boot(
  debian: Extract<Debian, { missing: null }>,
  shared: readonly Shared[] = [],
): Promise<Machine> {
  const name = `dragoman-${debian.suite}-${process.pid}-${++count}`;
  const cgroups = CGROUPS.filter((folder) => existsSync(join(folder, 'cgroup.procs'))).map((folder) =>
    join(folder, name),
  );
  for (const cgroup of cgroups) mkdirSync(cgroup);
  const node = { from: process.execPath, to: '/usr/bin/node' };
  const binds = [
    { from: debian.bundles, to: '/opt/dragoman' },
    ...(existsSync(join(debian.root, 'usr/bin/node')) ? [] : [node]),
    ...shared,
  ].map(({ from, to, ...rest }) => `--bind${'writable' in rest && rest.writable ? '' : '-ro'}=${from}:${to}`);
  const words = ['systemd-nspawn', '--quiet', '--keep-unit', '--register=no', '--private-network'];
  words.push(
    '--console=pipe',
    '--volatile=overlay',
    `--machine=${name}`,
    '-D',
    debian.root,
    ...binds,
    '--boot',
  );
  // Ends when this process ends for any reason.
  const script =
    'for cgroup in $CGROUPS; do echo $$ >"$cgroup/cgroup.procs"; done; exec setpriv --pdeathsig KILL "$@"';
  const container = spawn('sh', ['-c', script, 'sh', ...words], {
    env: { ...process.env, CGROUPS: cgroups.join(' '), SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [container.stdout, container.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4000);
    });
  const stop = async (): Promise<void> => {
    for (const pid of childrenOf(container)) killIfThere(pid);
    const kill = setTimeout(() => container.kill('SIGKILL'), END_LIMIT_MS / 2);
    if (container.exitCode === null && container.signalCode === null) await once(container, 'close');
    clearTimeout(kill);
    for (const cgroup of cgroups) await removeGroup(cgroup);
  };
  try {
    const init = await untilBooted(container);
    return machineOf(debian.suite, init, stop);
  } catch (error) {
    await stop();
    throw new Error(`${name} does not boot: ${String(error)}\n${said}`);
  }
}

function machineOf(suite: string, init: number, stop: () => Promise<void>): Machine {
  const run = (words: readonly string[], input?: string) => enter(init, words, input);
  const must = async (words: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await run(words, input);
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  return {
    suite,
    run,
    must,
    stop,
    isUp: () => existsSync(`/proc/${init}`),
    async write(path, text, mode = '0644') {
      const script =
        'mkdir -p "$(dirname "$1")"; umask 077; cat >"$1.draft"; chmod "$2" "$1.draft"; mv "$1.draft" "$1"';
      await must(['sh', '-ec', script, 'sh', path, mode], text);
    },
    hostPid(pid) {
      const space = statSync(`/proc/${init}/ns/pid`).ino;
      for (const entry of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
        const numbers = insidePids(entry);
        if (numbers.length > 1 && Number(numbers.at(-1)) === pid && spaceOf(entry) === space)
          return Number(entry);
      }
      throw new Error(`there is no process ${pid} in ${suite}`);
    },
  };
}

/** Runs a program in the namespaces of a process. */
function enter(init: number, words: readonly string[], input?: string): Promise<Output> {
  return new Promise((resolve) => {
    const child = execFile(
      'nsenter',
      ['-t', String(init), '-a', 'env', '-i', 'PATH=/usr/sbin:/usr/bin', 'LC_ALL=C.UTF-8', ...words],
      { timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 64 * 2 ** 20 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr });
      },
    );
    // A program that does not read its input may have ended already.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

async function untilBooted(container: ChildProcess): Promise<number> {
  const endsAt = performance.now() + BOOT_LIMIT_MS;
  for (;;) {
    if (container.exitCode !== null) throw new Error(`ended with ${container.exitCode}`);
    for (const init of childrenOf(container)) {
      const { stdout } = await enter(init, ['systemctl', 'is-system-running']);
      if (/^(running|degraded)/.test(stdout)) return init;
    }
    if (performance.now() > endsAt) throw new Error(`not there after ${BOOT_LIMIT_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function childrenOf({ pid }: ChildProcess): number[] {
  const text = readOr(`/proc/${pid}/task/${pid}/children`, '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** The ids of a process, the one on this machine first. */
const insidePids = (pid: string): string[] =>
  (/^NSpid:\s+(.*)$/m.exec(readOr(`/proc/${pid}/status`, ''))?.[1] ?? '').split(/\s+/);

function spaceOf(pid: string): number {
  try {
    return statSync(`/proc/${pid}/ns/pid`).ino;
  } catch {
    return -1;
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone, as at a reboot.
  }
}

/** Removes a control group and its subgroups when their last process is gone. */
export async function removeGroup(cgroup: string): Promise<void> {
  for (const endsAt = performance.now() + END_LIMIT_MS; ; ) {
    try {
      return removeTree(cgroup);
    } catch (error) {
      if (performance.now() > endsAt) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function removeTree(cgroup: string): void {
  for (const entry of readdirSync(cgroup, { withFileTypes: true }))
    if (entry.isDirectory()) removeTree(join(cgroup, entry.name));
  rmdirSync(cgroup);
}
