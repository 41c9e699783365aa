/** A whole machine in QEMU: a kernel, systemd and sound cards of its own. No KVM: what computes in it is slow, its clock is right. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connected, type GuestAgent, openGuestAgent } from './guest-agent.ts';
import { type GuestCommands, guestCommands } from './guest-commands.ts';

export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** What QEMU calls it, and the words for a machine of that kind. */
export const KINDS: Readonly<
  Record<Architecture, { readonly program: string; readonly words: readonly string[] }>
> = {
  amd64: { program: 'qemu-system-x86_64', words: ['-M', 'q35', '-cpu', 'max'] },
  arm64: { program: 'qemu-system-aarch64', words: ['-M', 'virt,gic-version=3', '-cpu', 'cortex-a72'] },
};
/** 1 ns for an instruction: 1000 million of them a second on one processor, fewer than the four of a board do. */
const TIMES: Readonly<Record<'real' | 'virtual', readonly string[]>> = {
  real: ['-accel', 'tcg,thread=multi,tb-size=256', '-smp', '2', '-m', '1024', '-rtc', 'base=utc'],
  virtual: [
    ...['-accel', 'tcg,thread=single,tb-size=256', '-smp', '1', '-m', '1536'],
    ...['-icount', 'shift=0,sleep=off', '-rtc', 'base=utc,clock=vm'],
  ],
};
const CONSOLES: Readonly<Record<Architecture, string>> = { amd64: 'ttyS0', arm64: 'ttyAMA0' };

export interface Hardware {
  readonly architecture: Architecture;
  /** qcow2: it is written to. */
  readonly disk: string;
  readonly kernel: string;
  readonly initrd: string;
  /** A file that is its second disk, which it can only read. */
  readonly parcel: string;
  /** Ports of this machine's loopback that it reaches as ports of 10.0.2.100; it reaches nothing else. */
  readonly ports: Readonly<Record<number, number>>;
  /**
   * Virtual: its time is the instructions that it has run, and leaps where nothing has to be done. It is the same on any machine below
   * it, has one processor, and is never late; what it talks with must be inside it. Left out: real.
   */
  readonly time?: 'real' | 'virtual';
  /** Files of this machine into which it writes, as /dev/virtio-ports/NAME. */
  readonly virtioPorts?: Readonly<Record<string, string>>;
  /** It ends by then, however much it has to do. Left out: 40 minutes. */
  readonly lifeLimitMs?: number;
}

export interface Machine extends GuestCommands {
  /** What goes into its USB loudspeaker while that is plugged in, as QEMU records it: 48 kHz, two channels, after 44 bytes. */
  readonly usbSound: string;
  /** Of the process that is this machine now. */
  readonly pid: number;
  /** A command to QEMU itself; what it said. */
  monitor(command: string): Promise<string>;
  save(name: string): Promise<void>;
  /** Back to a state that was saved, with this machine's time. */
  load(name: string): Promise<void>;
  /** By the time of this machine. */
  setClock(): Promise<void>;
  /** What has been written to its disk since it was switched on. */
  written(): Promise<{ readonly bytes: number; readonly operations: number }>;
  /** Without a word to anything that runs in it; then it is switched on again. The time until it was up, ms. */
  cutPower(): Promise<number>;
  /** What its console has shown since it was switched on. */
  console(): string;
  /** The same of the time before the last cut. */
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
    ...{ bootMs, monitor, setClock, usbSound: join(folder, USB_SOUND) },
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
/** For a loudspeaker; what it says is recorded in the file, 48 kHz, two channels. */
export const usbSocket = (file: string): string[] => [
  ...['-device', 'qemu-xhci,id=usb'],
  ...['-audiodev', `wav,id=usb,path=${file},out.frequency=48000,out.channels=2`],
];
/** What `device_add` plugs in, and `device_del horn` pulls out again. */
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
    ...['-nodefaults', '-display', 'none', '-kernel', kernel, '-initrd', initrd],
    ...['-append', `root=/dev/vda rw console=${CONSOLES[architecture]} quiet mitigations=off no_timer_check`],
    // What it forces out is in files of this machine then, and outlives QEMU; to their disk it may take seconds.
    ...['-drive', `file=${disk},if=none,id=disk,cache=unsafe`, '-device', 'virtio-blk-pci,drive=disk'],
    ...['-drive', `file=${parcel},if=none,id=parcel,format=raw,readonly=on`],
    ...[
      '-device',
      'virtio-blk-pci,drive=parcel',
      '-device',
      'virtio-serial-pci',
      '-chardev',
      socket('agent'),
    ],
    ...['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    ...Object.entries(hardware.virtioPorts ?? {}).flatMap(([name, file]) => [
      ...['-chardev', `file,id=${name},path=${file}`],
      ...['-device', `virtserialport,chardev=${name},name=${name}`],
    ]),
    ...usbSocket(join(folder, USB_SOUND)),
    ...['-netdev', `user,id=net,restrict=on,ipv6=off${forwards.join('')}`],
    ...['-device', 'virtio-net-pci,netdev=net,id=wire,romfile='],
    ...[
      '-serial',
      `file:${join(folder, 'console.log')}`,
      '-monitor',
      `unix:${join(folder, 'monitor')},server=on,wait=off`,
    ],
    ...(saved === undefined ? [] : ['-loadvm', saved]),
  ];
  for (const name of ['agent', 'monitor']) rmSync(join(folder, name), { force: true });
  // It ends with this process, however that ends.
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

/** QEMU's own command line. */
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
    // The line is echoed, with what an editor of lines writes, up to its end.
    return (await prompt()).replace(/^.*?\r\n/s, '').replaceAll('\r', '');
  };
}
