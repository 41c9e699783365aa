/**
 * A machine of User-Mode Linux: a kernel of its own with its own cache of the disk, at nearly the host's speed. It has no network and
 * no sound card. As with every machine, a power cut loses what its kernel has not written.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GuestAgent, guestAgentOn } from '../guest-agent.ts';
import { type GuestCommands, guestCommands } from '../guest-commands.ts';

const PROGRAM = 'linux.uml';
const SHIM = fileURLToPath(new URL('ptrace-state.c', import.meta.url));
const BOOT_LIMIT_MS = 240_000;
const RUN_LIMIT_MS = 120_000;
/** The tests' hand in it, which listens to its first serial port. */
const HAND = '[Service]\nExecStart=/usr/sbin/qemu-ga -m isa-serial -p /dev/ttyS0\n';

export interface UmlMachine extends GuestCommands {
  /** Console output since power-on. */
  console(): string;
  /** Console output before the last power cut. */
  consoleBeforeCut(): string;
  /** Cuts the power without a shutdown, and switches it on again, with another disk if one is named. @returns the boot time (ms) */
  cutPower(disk?: string): Promise<number>;
  stop(): Promise<void>;
}

/** @returns why there can be no such machine here; null if there can */
export function whatUmlLacks(): string | null {
  if (process.getuid?.() !== 0) return 'not root';
  for (const [program, option, packageName] of [
    [PROGRAM, '--version', 'user-mode-linux'],
    ['mmdebstrap', '--version', 'mmdebstrap'],
    ['debugfs', '-V', 'e2fsprogs'],
    ['gcc', '--version', 'gcc'],
    ['gpg', '--version', 'gpg'],
  ] as const)
    if (spawnSync(program, [option]).error !== undefined) return `no ${program} (${packageName})`;
  return null;
}

/** Puts the hand on the disk of a machine that has never run. */
export function prepareDisk(folder: string, image: string): string {
  const [disk, unit] = [join(folder, 'new.img'), join(folder, 'hand.service')];
  copyFileSync(image, disk);
  const lines = [
    'cd /etc/systemd/system',
    `write ${unit} hand.service`,
    'cd multi-user.target.wants',
    'symlink hand.service ../hand.service',
  ];
  execFileSync('sh', ['-c', 'printf %s "$1" >"$2"', 'sh', HAND, unit]);
  execFileSync('debugfs', ['-w', disk], {
    input: `${lines.join('\n')}\n`,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return disk;
}

/** @param disk changes @param parcel a second disk, which it only reads */
export async function switchOnUml(folder: string, disk: string, parcel: string): Promise<UmlMachine> {
  const shim = join(folder, 'ptrace-state.so');
  execFileSync('gcc', ['-O2', '-fPIC', '-shared', '-o', shim, SHIM]);
  let parts = start(shim, disk, parcel);
  let before = '';
  await untilUp(parts);
  return {
    ...guestCommands((words, input = '', limitMs = RUN_LIMIT_MS) =>
      parts.agent.run(words, Buffer.from(input), limitMs),
    ),
    console: () => parts.said(),
    consoleBeforeCut: () => before,
    async cutPower(other = disk) {
      await end(parts);
      before = parts.said();
      const startedAt = performance.now();
      if (other !== disk) copyFileSync(other, disk);
      parts = start(shim, disk, parcel);
      await untilUp(parts);
      return performance.now() - startedAt;
    },
    stop: () => end(parts),
  };
}

interface Parts {
  readonly kernel: ChildProcess;
  readonly agent: GuestAgent;
  said(): string;
}

function start(shim: string, disk: string, parcel: string): Parts {
  const words = [
    'mem=1024M',
    `ubd0=${disk}`,
    `ubd1r=${parcel}`,
    'root=/dev/ubda',
    'rw',
    'con=null',
    'con0=null,fd:1',
    'ssl=null',
    'ssl0=fd:3,fd:3',
    'quiet',
    'systemd.show_status=0',
    'systemd.mask=serial-getty@ttyS0.service',
  ];
  const kernel = spawn('setpriv', ['--pdeathsig', 'KILL', PROGRAM, ...words], {
    // A group of its own, because each process in it is one on the host.
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    env: { ...process.env, LD_PRELOAD: shim, TMPDIR: '/dev/shm' },
  });
  let text = '';
  kernel.stdout?.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  return { kernel, agent: guestAgentOn(kernel.stdio[3] as Socket), said: () => text };
}

async function untilUp({ kernel, agent, said }: Parts): Promise<void> {
  for (const endsAt = performance.now() + BOOT_LIMIT_MS; ; ) {
    if (kernel.exitCode !== null || kernel.signalCode !== null)
      throw new Error(`the machine does not start: ${said().slice(-2000)}`);
    if (await agent.ping(2000)) {
      const { stdout } = await agent.run(['systemctl', 'is-system-running'], Buffer.of(), RUN_LIMIT_MS);
      if (/^(running|degraded)/.test(stdout.toString())) return;
    }
    if (performance.now() > endsAt) throw new Error(`the machine does not come up: ${said().slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function end({ kernel, agent }: Parts): Promise<void> {
  agent.close();
  if (kernel.pid === undefined || kernel.exitCode !== null || kernel.signalCode !== null) return;
  const gone = once(kernel, 'close');
  process.kill(-kernel.pid, 'SIGKILL');
  await gone;
}
