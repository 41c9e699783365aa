/**
 * Machines as their kernel describes them, file by file. Not recorded: composed from the kernel's own formats and from published
 * listings of such boards.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { MachineFolders } from '../../../../src/adapters/audio/cards/card.ts';

/** Text by path; a text that begins with "->" is a link. */
export type Tree = Readonly<Record<string, string>>;

export interface Machine extends MachineFolders {
  readonly root: string;
  write(path: string, text: string): void;
  remove(path: string): void;
  /** Deletes all of it. */
  clear(): void;
}

/** Writes a machine's files into a folder of their own. */
export function layOut(tree: Tree): Machine {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-machine-'));
  const write = (path: string, text: string): void => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    const [, target] = /^-> (.+)$/.exec(text) ?? [];
    if (target === undefined) return writeFileSync(file, text);
    mkdirSync(join(dirname(file), target), { recursive: true });
    rmSync(file, { force: true });
    symlinkSync(target, file);
  };
  for (const [path, text] of Object.entries(tree)) write(path, text);
  return {
    root,
    proc: join(root, 'proc'),
    sys: join(root, 'sys'),
    dev: join(root, 'dev'),
    write,
    remove: (path) => rmSync(join(root, path), { recursive: true, force: true }),
    clear: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** A line pair of /proc/asound/cards. */
export function cardLines(index: number, id: string, driver: string, name: string, long: string): string {
  return `${String(index).padStart(2)} [${id.padEnd(15)}]: ${driver} - ${name}\n${' '.repeat(22)}${long}\n`;
}

/** One direction of a device, with all its places closed. */
export function pcm(card: number, device: number, direction: 'c' | 'p', name: string, places = 1): Tree {
  const folder = `proc/asound/card${card}/pcm${device}${direction}`;
  const info = (subdevice: number): string =>
    [
      `card: ${card}`,
      `device: ${device}`,
      `subdevice: ${subdevice}`,
      `stream: ${direction === 'c' ? 'CAPTURE' : 'PLAYBACK'}`,
      `id: ${name}`,
      `name: ${name}`,
      `subname: subdevice #${subdevice}`,
      'class: 0',
      'subclass: 0',
      `subdevices_count: ${places}`,
      `subdevices_avail: ${places}`,
      '',
    ].join('\n');
  const files: Record<string, string> = { [`${folder}/info`]: info(0) };
  for (let place = 0; place < places; place++) {
    files[`${folder}/sub${place}/info`] = info(place);
    files[`${folder}/sub${place}/status`] = 'closed\n';
    files[`${folder}/sub${place}/hw_params`] = 'closed\n';
  }
  return files;
}

/** The status of a place that a program has open. */
export function runningStatus(pid: number): string {
  return `state: RUNNING
owner_pid   : ${pid}
trigger_time: 3500.293964674
tstamp      : 3546.346349508
delay       : 659
avail       : 659
avail_max   : 1084
-----
hw_ptr      : 736671
appl_ptr    : 736012
`;
}

/** The kernel's files of a process; a thread's `group` is its process. */
export function processFiles(
  pid: number,
  comm: string,
  { parent = 1, group = pid, words = [comm] }: { parent?: number; group?: number; words?: string[] } = {},
): Tree {
  return {
    [`proc/${pid}/comm`]: `${comm}\n`,
    [`proc/${pid}/cmdline`]: `${words.join('\0')}\0`,
    [`proc/${pid}/status`]: `Name:\t${comm}\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t${group}\nNgid:\t0\nPid:\t${pid}\nPPid:\t${parent}\nUid:\t1000\t1000\t1000\t1000\n`,
  };
}

/** The `stream0` of a cheap USB headset. */
export function headsetStream(port: string): string {
  return `C-Media Electronics Inc. USB PnP Sound Device at usb-0000:01:00.0-${port}, full spe : USB Audio

Playback:
  Status: Stop
  Interface 1
    Altset 1
    Format: S16_LE
    Channels: 2
    Endpoint: 0x01 (1 OUT) (ADAPTIVE)
    Rates: 48000, 44100
    Bits: 16
    Channel map: FL FR

Capture:
  Status: Stop
  Interface 2
    Altset 1
    Format: S16_LE
    Channels: 1
    Endpoint: 0x82 (2 IN) (ASYNC)
    Rates: 48000, 44100
    Bits: 16
    Channel map: MONO
`;
}

/** All files of a USB headset that is plugged into a socket. */
export function headset(index: number, id: string, port: string): Tree {
  return {
    ...pcm(index, 0, 'p', 'USB Audio'),
    ...pcm(index, 0, 'c', 'USB Audio'),
    [`proc/asound/card${index}/id`]: `${id}\n`,
    [`proc/asound/card${index}/usbid`]: '0d8c:0014\n',
    [`proc/asound/card${index}/usbbus`]: `001/00${index}\n`,
    [`proc/asound/card${index}/stream0`]: headsetStream(port),
    [`sys/class/sound/card${index}/device`]: `-> ../../../devices/usb1/1-1/1-${port}/1-${port}:1.0`,
    [`dev/snd/controlC${index}`]: '',
    [`dev/snd/pcmC${index}D0c`]: '',
    [`dev/snd/pcmC${index}D0p`]: '',
  };
}

export const headsetLines = (index: number, id: string, port: string): string =>
  cardLines(
    index,
    id,
    'USB-Audio',
    'USB PnP Sound Device',
    `C-Media Electronics Inc. USB PnP Sound Device at usb-0000:01:00.0-${port}, full spe`,
  );

/** A Raspberry Pi 4 with its own two outputs, a microphone board on its pins and a USB headset. */
export const RASPBERRY_PI: Tree = {
  'proc/asound/cards':
    cardLines(0, 'Headphones', 'bcm2835_headpho', 'bcm2835 Headphones', 'bcm2835 Headphones') +
    cardLines(1, 'vc4hdmi0', 'vc4-hdmi', 'vc4-hdmi-0', 'vc4-hdmi-0') +
    cardLines(2, 'seeed2micvoicec', 'seeed-2mic-voic', 'seeed-2mic-voicecard', 'seeed-2mic-voicecard') +
    headsetLines(3, 'Device', '1.3'),
  ...pcm(0, 0, 'p', 'bcm2835 Headphones', 8),
  'dev/snd/controlC0': '',
  ...pcm(1, 0, 'p', 'MAI PCM i2s-hifi-0'),
  'dev/snd/controlC1': '',
  ...pcm(2, 0, 'p', 'bcm2835-i2s-wm8960-hifi wm8960-hifi-0'),
  ...pcm(2, 0, 'c', 'bcm2835-i2s-wm8960-hifi wm8960-hifi-0'),
  'sys/class/sound/card2/device': '-> ../../../devices/platform/soc/soc:sound',
  'dev/snd/controlC2': '',
  ...headset(3, 'Device', '1.3'),
  'dev/snd/seq': '',
  'dev/snd/timer': '',
};

/** Two identical headsets and nothing else. */
export const TWO_HEADSETS: Tree = {
  'proc/asound/cards': headsetLines(0, 'Device', '1.1') + headsetLines(1, 'Device_1', '1.4'),
  ...headset(0, 'Device', '1.1'),
  ...headset(1, 'Device_1', '1.4'),
};

/** A board whose kernel has sound, but no card. */
export const NO_CARDS: Tree = { 'proc/asound/cards': '--- no soundcards ---\n', 'dev/snd/timer': '' };

/** The dump of `arecord --dump-hw-params` for a board with two microphones (on standard error). */
export const BOARD_PARAMETERS = `Recording raw data '/dev/null' : Float 64 bit Big Endian, Rate 8000 Hz, Mono
HW Params of device "hw:CARD=seeed2micvoicec,DEV=0":
--------------------
ACCESS:  MMAP_INTERLEAVED RW_INTERLEAVED
FORMAT:  S16_LE S24_LE S32_LE
SUBFORMAT:  STD
SAMPLE_BITS: [16 32]
FRAME_BITS: [32 64]
CHANNELS: 2
RATE: [8000 96000]
PERIOD_TIME: (333 8192000]
PERIOD_SIZE: [32 65536]
PERIOD_BYTES: [256 524288]
PERIODS: [2 4096]
BUFFER_TIME: (666 16384000]
BUFFER_SIZE: [64 131072]
BUFFER_BYTES: [256 524288]
TICK_TIME: ALL
--------------------
arecord: set_params:1343: Sample format non available
Available formats:
- S16_LE
- S24_LE
- S32_LE
`;
