/**
 * A whole machine in a time of its own: its time is the instructions that it has run, and leaps where nothing has to be done. Whatever
 * the machine below it is and does, it is never late, and what happens in it takes the same time. So nothing in it may wait for what is
 * outside of it: its disks are its memory, nobody speaks with it, and what it tells goes one way. Only its USB loudspeaker is plugged in and
 * pulled out by whoever is outside, when it asks for it.
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

/** 1 ns for an instruction: 1000 million of them a second on one processor, fewer than the four of a board do. */
const SHIFT = 0;
const MEMORY_MB = 1536;
export const PORT_NAME = 'told';

/**
 * Memory is copied and cleared by loops, and not by one instruction that repeats itself, of which QEMU runs each repetition by itself:
 * with `erms=off` below a boot takes two thirds of the time.
 */
const KERNEL_WORDS = [
  ...[
    'root=/dev/pmem0',
    'rw',
    'console=ttyS0',
    'quiet',
    'mitigations=off',
    'fsck.mode=skip',
    'rdinit=/memory-disk',
  ],
  ...['init_on_alloc=0', 'clearcpuid=rep_good', 'systemd.wants=scenarios.service'],
  ...[
    'serial-getty@ttyS0.service',
    'qemu-guest-agent.service',
    'systemd-networkd.service',
    'cron.service',
  ].map((unit) => `systemd.mask=${unit}`),
];

export interface VirtualHardware {
  /** What its disk has at the beginning; what it writes is forgotten. A whole number of 2 MiB, as is the parcel. */
  readonly disk: string;
  readonly kernel: string;
  readonly initrd: string;
  /** A file that is its second disk. */
  readonly parcel: string;
  /** A unit of systemd that is started at boot; it writes what it tells to /dev/virtio-ports/told. */
  readonly unit: string;
  readonly lifeLimitMs: number;
}

export interface VirtualMachine {
  /** All that has been told. */
  reports(): readonly Report[];
  console(): string;
  /** What its USB loudspeaker has said, as the program inside asked to keep it. */
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
    ...['-object', `memory-backend-file,id=${id},mem-path=${file},size=${statSync(file).size},share=off`],
    ...['-device', `nvdimm,memdev=${id},id=nv-${id}`],
  ];
  const words = [
    ...['-M', 'q35,nvdimm=on,sata=off,smbus=off', '-cpu', 'max,la57=off,svm=off,erms=off'],
    ...['-accel', 'tcg,thread=single,tb-size=512', '-smp', '1', '-m', `${MEMORY_MB},slots=2,maxmem=8G`],
    ...['-icount', `shift=${SHIFT},sleep=off`, '-rtc', 'base=utc,clock=vm'],
    ...memoryDisk('disk', disk),
    ...memoryDisk('parcel', parcel),
    ...['-nodefaults', '-display', 'none', '-kernel', kernel, '-initrd', initrd],
    ...['-append', KERNEL_WORDS.join(' ')],
    ...[
      '-smbios',
      `type=11,value=io.systemd.credential.binary:systemd.extra-unit.scenarios.service=${base64(unit)}`,
    ],
    ...['-device', 'virtio-serial-pci', '-chardev', `file,id=told,path=${told}`],
    ...['-device', `virtserialport,chardev=told,name=${PORT_NAME}`],
    ...['-serial', `file:${console}`, '-monitor', `unix:${inFolder('monitor')},server=on,wait=off`],
    ...usbSocket(usbSound),
  ];
  // It ends with this process, however that ends.
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
    ...{ hasEnded, reports, usbPieces: usb.pieces, console: () => readFileSync(console, 'utf8') },
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
