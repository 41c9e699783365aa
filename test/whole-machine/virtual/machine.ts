/**
 * A whole machine with virtual time, which counts executed instructions and skips idle time. On every host it is never late, and
 * everything takes the same time. Therefore nothing in it may wait for the host: its disks are memory, it gets no input, and its
 * reports go one way. The host only plugs and unplugs its USB loudspeaker, on request.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMonitor, usbSocket } from '../machine.ts';
import type { Report } from './report.ts';
import { readReports } from './report-reader.ts';
import { obeyUsbRequests } from './usb-requests.ts';

/** Exponent of the time for an instruction: 2^0 = 1 ns, so one processor is slower than the four of a board. */
const SHIFT = 0;
const MEMORY_MB = 1536;
export const PORT_NAME = 'told';

/**
 * Copies and clears memory with loops instead of one repeating instruction, because QEMU runs each repetition separately. With
 * `erms=off` below, a boot takes two thirds of the time.
 */
const KERNEL_WORDS = [
  'root=/dev/pmem0',
  'rw',
  'console=ttyS0',
  'quiet',
  'mitigations=off',
  'fsck.mode=skip',
  'rdinit=/memory-disk',
  'init_on_alloc=0',
  'clearcpuid=rep_good',
  'systemd.wants=scenarios.service',
  ...[
    'serial-getty@ttyS0.service',
    'qemu-guest-agent.service',
    'systemd-networkd.service',
    'cron.service',
  ].map((unit) => `systemd.mask=${unit}`),
];

export interface VirtualHardware {
  /** Path of its disk, whose changes are discarded. Its size is a multiple of 2 MiB, like that of the parcel. */
  readonly disk: string;
  readonly kernel: string;
  readonly initrd: string;
  /** Path of its second disk. */
  readonly parcel: string;
  /** A unit of systemd that starts at boot and writes reports to /dev/virtio-ports/told. */
  readonly unit: string;
  readonly lifeLimitMs: number;
}

export interface VirtualMachine {
  /** All reports so far. */
  reports(): readonly Report[];
  console(): string;
  /** Sound of its USB loudspeaker, in pieces as the program inside requested. */
  usbPieces(): readonly Int16Array[];
  hasEnded(): boolean;
  stop(): Promise<void>;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export async function switchOnVirtual(hardware: VirtualHardware): Promise<VirtualMachine> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-virtual-'));
  const inFolder = (name: string): string => join(folder, name);
  const [told, console, usbSound] = [inFolder('told'), inFolder('console'), inFolder('usb.wav')];
  for (const file of [told, console]) writeFileSync(file, '');
  const { disk, kernel, initrd, parcel, unit, lifeLimitMs } = hardware;
  const memoryDisk = (id: string, file: string): string[] => [
    '-object',
    `memory-backend-file,id=${id},mem-path=${file},size=${statSync(file).size},share=off`,
    '-device',
    `nvdimm,memdev=${id},id=nv-${id}`,
  ];
  const words = [
    '-M',
    'q35,nvdimm=on,sata=off,smbus=off',
    '-cpu',
    'max,la57=off,svm=off,erms=off',
    '-accel',
    'tcg,thread=single,tb-size=512',
    '-smp',
    '1',
    '-m',
    `${MEMORY_MB},slots=2,maxmem=8G`,
    '-icount',
    `shift=${SHIFT},sleep=off`,
    '-rtc',
    'base=utc,clock=vm',
    ...memoryDisk('disk', disk),
    ...memoryDisk('parcel', parcel),
    '-nodefaults',
    '-display',
    'none',
    '-kernel',
    kernel,
    '-initrd',
    initrd,
    '-append',
    KERNEL_WORDS.join(' '),
    '-smbios',
    `type=11,value=io.systemd.credential.binary:systemd.extra-unit.scenarios.service=${base64(unit)}`,
    '-device',
    'virtio-serial-pci',
    '-chardev',
    `file,id=told,path=${told}`,
    '-device',
    `virtserialport,chardev=told,name=${PORT_NAME}`,
    '-serial',
    `file:${console}`,
    '-monitor',
    `unix:${inFolder('monitor')},server=on,wait=off`,
    ...usbSocket(usbSound),
  ];
  // Ends when this process ends for any reason.
  const program = ['--pdeathsig', 'KILL', 'qemu-system-x86_64'];
  const qemu: ChildProcess = spawn('setpriv', [...program, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const limit = setTimeout(() => qemu.kill('SIGKILL'), lifeLimitMs);
  qemu.once('exit', () => clearTimeout(limit));
  const hasEnded = () => qemu.exitCode !== null || qemu.signalCode !== null;
  const reports = readReports(told);
  const usb = obeyUsbRequests(reports, await openMonitor(inFolder('monitor')), usbSound);
  return {
    hasEnded,
    reports,
    usbPieces: usb.pieces,
    console: () => readFileSync(console, 'utf8'),
    async stop() {
      usb.stop();
      if (!hasEnded()) {
        const gone = once(qemu, 'exit');
        qemu.kill('SIGKILL');
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
