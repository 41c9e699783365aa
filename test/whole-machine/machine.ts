/** A whole machine in QEMU with its own kernel, systemd and sound cards. Without KVM: it computes slowly, but its clock is right. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connected, type GuestAgent, openGuestAgent } from './guest-agent.ts';
import { type GuestCommands, guestCommands } from './guest-commands.ts';

export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** QEMU's program and arguments for each architecture. */
export const KINDS: Readonly<
  Record<Architecture, { readonly program: string; readonly words: readonly string[] }>
> = {
  amd64: { program: 'qemu-system-x86_64', words: ['-M', 'q35', '-cpu', 'max'] },
  arm64: { program: 'qemu-system-aarch64', words: ['-M', 'virt,gic-version=3', '-cpu', 'cortex-a72'] },
};
/** Clock options. Virtual: 1 ns for an instruction, so one processor is slower than the four of a board. */
const TIMES: Readonly<Record<'real' | 'virtual', readonly string[]>> = {
  real: ['-accel', 'tcg,thread=multi,tb-size=256', '-smp', '2', '-m', '1024', '-rtc', 'base=utc'],
  virtual: [
    '-accel',
    'tcg,thread=single,tb-size=256',
    '-smp',
    '1',
    '-m',
    '1536',
    '-icount',
    'shift=0,sleep=off',
    '-rtc',
    'base=utc,clock=vm',
  ],
};
const CONSOLES: Readonly<Record<Architecture, string>> = { amd64: 'ttyS0', arm64: 'ttyAMA0' };

export interface Hardware {
  readonly architecture: Architecture;
  /** Path of its writable disk (qcow2). */
  readonly disk: string;
  readonly kernel: string;
  readonly initrd: string;
  /** Path of its second, read-only disk. */
  readonly parcel: string;
  /** Ports of this machine's loopback that it reaches as ports of 10.0.2.100. It has no other network. */
  readonly ports: Readonly<Record<number, number>>;
  /**
   * Virtual: its time counts executed instructions, and skips idle time. It is the same on every host, has one processor, and is
   * never late; all its peers must be inside it. Default: real.
   */
  readonly time?: 'real' | 'virtual';
  /** Files of the host to which it writes through /dev/virtio-ports/NAME. */
  readonly virtioPorts?: Readonly<Record<string, string>>;
  /** Longest life of the machine. Default: 40 minutes. */
  readonly lifeLimitMs?: number;
}

export interface Machine extends GuestCommands {
  /** Path of QEMU's recording of its USB loudspeaker: 48 kHz, two channels, after a header of 44 bytes. */
  readonly usbSound: string;
  /** Process id of the present QEMU. */
  readonly pid: number;
  /** Sends a command to QEMU's monitor. @returns its answer */
  monitor(command: string): Promise<string>;
  save(name: string): Promise<void>;
  /** Loads a saved state, and sets its clock to the host's time. */
  load(name: string): Promise<void>;
  /** Sets its clock to the host's time. */
  setClock(): Promise<void>;
  /** Bytes and operations written to its disk since power-on. */
  written(): Promise<{ readonly bytes: number; readonly operations: number }>;
  /** Cuts the power without a shutdown, and switches it on again. @returns the boot time (ms) */
  cutPower(): Promise<number>;
  /** Console output since power-on. */
  console(): string;
  /** Console output before the last power cut. */
  consoleBeforeCut(): string;
  stop(): Promise<void>;
}

const LIFE_LIMIT_MS = 2_400_000;
const RUN_LIMIT_MS = 60_000;
const BOOT_LIMIT_MS = 240_000;
const CONSOLE_TOLD = 1000;
const MONITOR_LIMIT_MS = 60_000;

export async function switchOn(
  hardware: Hardware,
  saved?: string,
): Promise<Machine & { readonly bootMs: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-machine-'));
  let parts = await start(hardware, folder, saved);
  const lines = () => readFileSync(join(folder, 'console.log'), 'latin1');
  let before = '';
  const untilUp = (): Promise<number> => untilAnswering(parts, lines);
  const bootMs = await untilUp().catch(async (error) => {
    await end(parts);
    throw error;
  });
  const commands = guestCommands((words, input = '', limitMs = RUN_LIMIT_MS) =>
    parts.agent.run(words, Buffer.from(input), limitMs),
  );
  const { must } = commands;
  const monitor = (command: string) => parts.monitor(command);
  const setClock = async (): Promise<void> => {
    await must(['date', '--set', `@${(Date.now() / 1000).toFixed(3)}`]);
  };
  return {
    ...commands,
    bootMs,
    monitor,
    setClock,
    usbSound: join(folder, USB_SOUND),
    get pid() {
      return parts.qemu.pid ?? 0;
    },
    async save(name) {
      const said = await monitor(`savevm ${name}`);
      if (/error|failed/i.test(said)) throw new Error(said);
    },
    async load(name) {
      const said = await monitor(`loadvm ${name}`);
      if (/error|failed/i.test(said)) throw new Error(said);
      await untilUp();
      await setClock();
    },
    async written() {
      const said = await monitor('info blockstats');
      const [, bytes, operations] = /^disk:.* wr_bytes=(\d+) .*?wr_operations=(\d+)/m.exec(said) ?? [];
      return { bytes: Number(bytes), operations: Number(operations) };
    },
    async cutPower() {
      await end(parts);
      before = lines();
      parts = await start(hardware, folder);
      return untilUp();
    },
    console: lines,
    consoleBeforeCut: () => before,
    async stop() {
      await end(parts);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const USB_SOUND = 'usb.wav';
/** A USB controller for a loudspeaker, whose sound is recorded in the file (48 kHz, two channels). */
export const usbSocket = (file: string): string[] => [
  '-device',
  'qemu-xhci,id=usb',
  '-audiodev',
  `wav,id=usb,path=${file},out.frequency=48000,out.channels=2`,
];
/** Argument of `device_add`; `device_del horn` removes it again. */
export const USB_LOUDSPEAKER = 'usb-audio,id=horn,bus=usb.0,audiodev=usb';

interface Parts {
  readonly qemu: ChildProcess;
  readonly agent: GuestAgent;
  monitor(command: string): Promise<string>;
}

async function start(hardware: Hardware, folder: string, saved?: string): Promise<Parts> {
  const { architecture, disk, kernel, initrd, parcel, ports, time = 'real' } = hardware;
  const kind = KINDS[architecture];
  const forwards = Object.entries(ports).map(
    ([from, to]) => `,guestfwd=tcp:10.0.2.100:${from}-cmd:socat - TCP:127.0.0.1:${to}`,
  );
  const socket = (name: string) => `socket,id=${name},path=${join(folder, name)},server=on,wait=off`;
  const words = [
    ...kind.words,
    ...TIMES[time],
    '-nodefaults',
    '-display',
    'none',
    '-kernel',
    kernel,
    '-initrd',
    initrd,
    '-append',
    `root=/dev/vda rw console=${CONSOLES[architecture]} quiet mitigations=off no_timer_check`,
    // Synced data is in files of the host, which outlive QEMU. Syncing these to the disk could take seconds.
    '-drive',
    `file=${disk},if=none,id=disk,cache=unsafe`,
    '-device',
    'virtio-blk-pci,drive=disk',
    '-drive',
    `file=${parcel},if=none,id=parcel,format=raw,readonly=on`,
    '-device',
    'virtio-blk-pci,drive=parcel',
    '-device',
    'virtio-serial-pci',
    '-chardev',
    socket('agent'),
    '-device',
    'virtserialport,chardev=agent,name=org.qemu.guest_agent.0',
    ...Object.entries(hardware.virtioPorts ?? {}).flatMap(([name, file]) => [
      '-chardev',
      `file,id=${name},path=${file}`,
      '-device',
      `virtserialport,chardev=${name},name=${name}`,
    ]),
    ...usbSocket(join(folder, USB_SOUND)),
    '-netdev',
    `user,id=net,restrict=on,ipv6=off${forwards.join('')}`,
    '-device',
    'virtio-net-pci,netdev=net,id=wire,romfile=',
    '-serial',
    `file:${join(folder, 'console.log')}`,
    '-monitor',
    `unix:${join(folder, 'monitor')},server=on,wait=off`,
    ...(saved === undefined ? [] : ['-loadvm', saved]),
  ];
  for (const name of ['agent', 'monitor']) rmSync(join(folder, name), { force: true });
  // Ends when this process ends for any reason.
  const program = ['--pdeathsig', 'KILL', 'nice', '-n', '5', kind.program];
  const qemu = spawn('setpriv', [...program, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  const limit = setTimeout(() => qemu.kill('SIGKILL'), hardware.lifeLimitMs ?? LIFE_LIMIT_MS);
  let said = '';
  qemu.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2000);
  });
  qemu.once('exit', (code) => {
    clearTimeout(limit);
    if (code !== null && code !== 0) process.stderr.write(`qemu ended with ${code}: ${said}\n`);
  });
  const agent = await openGuestAgent(join(folder, 'agent'));
  return { qemu, agent, monitor: await openMonitor(join(folder, 'monitor')) };
}

async function untilAnswering({ agent, qemu }: Parts, lines: () => string): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    if (qemu.exitCode !== null) throw new Error('the machine does not start');
    if (await agent.ping(2000)) {
      const { stdout } = await agent.run(['systemctl', 'is-system-running'], Buffer.of(), RUN_LIMIT_MS);
      if (/^(running|degraded)/.test(stdout.toString())) return performance.now() - startedAt;
    }
    if (performance.now() > startedAt + BOOT_LIMIT_MS)
      throw new Error(`the machine does not come up; its console: ${lines().slice(-CONSOLE_TOLD)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function end({ qemu, agent }: Parts): Promise<void> {
  agent.close();
  if (qemu.exitCode !== null || qemu.signalCode !== null) return;
  const gone = once(qemu, 'exit');
  qemu.kill('SIGKILL');
  await gone;
}

/** Opens QEMU's monitor. */
export async function openMonitor(path: string): Promise<(command: string) => Promise<string>> {
  const socket = await connected(path);
  let said = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    said += text;
  });
  socket.on('error', () => {});
  const prompt = async (): Promise<string> => {
    const endsAt = performance.now() + MONITOR_LIMIT_MS;
    while (!said.trimEnd().endsWith('(qemu)')) {
      if (performance.now() > endsAt) throw new Error(`QEMU does not answer: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return said;
  };
  await prompt();
  return async (command) => {
    said = '';
    socket.write(`${command}\n`);
    // Removes the echoed command line with its control characters.
    return (await prompt()).replace(/^.*?\r\n/s, '').replaceAll('\r', '');
  };
}
