/** The image on an emulated board: QEMU's `virt` or Raspberry Pi 3. Only the console is changed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../../nspawn/kiosk.ts';
import type { Output } from '../guest-agent.ts';
import { type GuestCommands, guestCommands } from '../guest-commands.ts';
import { KINDS, type Machine, openMonitor } from '../machine.ts';
import type { Card } from './card.ts';

export type BoardName = 'virt' | 'raspi3b';

interface Kind {
  readonly console: string;
  /** Added to the kernel's command line. */
  readonly more: string;
  /** QEMU's arguments for the board. @param card path of the card's file */
  words(card: string, folder: string, isWorn: boolean): string[];
}

const SMP = ['-smp', '2', '-m', '1024'];
// Synced data of a board is in a file of this machine, which outlives QEMU. Syncing it to the disk could take seconds, in which the
// whole board stops.
const BOARDS: Readonly<Record<BoardName, Kind>> = {
  virt: {
    console: 'ttyAMA0',
    more: '',
    words: (card, _, isWorn) => [
      ...KINDS.arm64.words,
      ...SMP,
      '-drive',
      `file=${card},if=none,id=disk,format=raw,cache=unsafe${isWorn ? ',readonly=on' : ''}`,
      '-device',
      'virtio-blk-pci,drive=disk',
      '-device',
      'virtio-net-pci,netdev=net,id=wire,romfile=',
    ],
  },
  raspi3b: {
    // ttyS0 is the console of the firmware; the kernel uses the other one.
    console: 'ttyS1,115200',
    // QEMU's board restarts as soon as its watchdog is enabled.
    more: ' modprobe.blacklist=bcm2835_wdt',
    words: (card, folder) => [
      '-M',
      'raspi3b',
      '-dtb',
      join(folder, 'bcm2837-rpi-3-b.dtb'),
      '-drive',
      `file=${card},if=sd,format=raw,cache=unsafe`,
      '-device',
      'usb-net,netdev=net,id=wire',
      '-serial',
      'null',
    ],
  },
};

export interface Board extends GuestCommands, Pick<Machine, 'monitor' | 'console'> {
  readonly startedAt: number;
  /** Process id of QEMU. */
  readonly pid: number;
  /** Waits until a login works. @returns ms since power-on */
  untilLogin(limitMs: number): Promise<number>;
  /** Cuts the power without a shutdown. */
  cutPower(): Promise<void>;
}

export interface Wiring {
  readonly board: BoardName;
  readonly card: Card;
  /** Folder for its files. */
  readonly folder: string;
  /** Ports of this machine's loopback that it reaches as ports of 10.0.2.100. It has no other network. */
  readonly ports: Readonly<Record<number, number>>;
  /** Port of this machine for its SSH. `dragoman.json` allows the private key in the same folder. */
  readonly sshPort: number;
  readonly sshKey: string;
  /** The card is read-only, like a worn card. */
  readonly isWorn: boolean;
}

const LIFE_LIMIT_MS = 5_400_000;
/** Characters of the console that are shown if no login works. */
const CONSOLE_SHOWN = 8000;
const RUN_LIMIT_MS = 90_000;
/** Limits for one login: key exchange takes seconds on the board's processor. Slower boards get more time. */
const [FIRST_TRY_MS, LONGER, CONNECT_LIMIT_S] = [15_000, 1.1, 120];

export async function powerOn({
  board,
  card,
  folder,
  ports,
  sshPort,
  sshKey,
  isWorn,
}: Wiring): Promise<Board> {
  mkdirSync(folder, { recursive: true });
  const kind = BOARDS[board];
  card.take(['vmlinuz', 'initrd.img', 'cmdline.txt', 'bcm2837-rpi-3-b.dtb'], folder);
  const own = readFileSync(join(folder, 'cmdline.txt'), 'utf8').trim();
  const line = `${own.replace(/console=ttyS1,115200/, `console=${kind.console}`)} systemd.show_status=yes${kind.more}`;
  const forwards = Object.entries(ports).map(
    ([from, to]) => `,guestfwd=tcp:10.0.2.100:${from}-cmd:socat - TCP:127.0.0.1:${to}`,
  );
  const log = join(folder, 'console.log');
  writeFileSync(log, '');
  const monitorAt = join(folder, 'monitor');
  const words = [
    ...kind.words(card.file, folder, isWorn),
    '-accel',
    'tcg,thread=multi,tb-size=256',
    '-display',
    'none',
    '-nodefaults',
    '-rtc',
    'base=utc',
    '-kernel',
    join(folder, 'vmlinuz'),
    '-initrd',
    join(folder, 'initrd.img'),
    '-append',
    line,
    '-netdev',
    `user,id=net,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:${sshPort}-:22${forwards.join('')}`,
    '-serial',
    `file:${log}`,
    '-monitor',
    `unix:${monitorAt},server=on,wait=off`,
  ];
  const startedAt = performance.now();
  const program = ['--pdeathsig', 'KILL', 'nice', '-n', '5', KINDS.arm64.program];
  const qemu = spawn('setpriv', [...program, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  const limit = setTimeout(() => qemu.kill('SIGKILL'), LIFE_LIMIT_MS);
  let said = '';
  qemu.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2000);
  });
  qemu.once('exit', (code) => {
    clearTimeout(limit);
    if (code !== null && code !== 0) process.stderr.write(`qemu ended with ${code}: ${said}\n`);
  });
  let ask: ReturnType<typeof openMonitor> | undefined;
  const ssh = sshLine(sshPort, sshKey, join(folder, 'ssh'));
  const commands = guestCommands((words, input = '', limitMs = RUN_LIMIT_MS) =>
    execute(['ssh', ...ssh, ['sudo', ...words].map(quoted).join(' ')], input, limitMs),
  );
  return {
    ...commands,
    startedAt,
    pid: qemu.pid ?? 0,
    console: () => readFileSync(log, 'latin1'),
    async untilLogin(limitMs) {
      let tryMs = FIRST_TRY_MS;
      await until(
        'a login',
        async () => {
          if (qemu.exitCode !== null) throw new Error(`the board does not start: ${said}`);
          const isIn = (await execute(['ssh', ...ssh, 'true'], '', tryMs)).code === 0;
          tryMs = Math.min(tryMs * LONGER, CONNECT_LIMIT_S * 1000);
          return isIn;
        },
        limitMs,
      ).catch((error) => {
        process.stderr.write(`${readFileSync(log, 'latin1').slice(-CONSOLE_SHOWN)}\n`);
        throw error;
      });
      return performance.now() - startedAt;
    },
    async monitor(command) {
      ask ??= openMonitor(monitorAt);
      return (await ask)(command);
    },
    cutPower: () => end(qemu),
  };
}

async function end(qemu: ChildProcess): Promise<void> {
  if (qemu.exitCode !== null || qemu.signalCode !== null) return;
  const gone = once(qemu, 'exit');
  qemu.kill('SIGKILL');
  await gone;
}

/** One shared SSH connection for all commands, because each login takes seconds. It ends with the board. */
const sshLine = (port: number, key: string, shared: string): string[] => [
  '-i',
  key,
  '-p',
  String(port),
  '-o',
  'StrictHostKeyChecking=no',
  '-o',
  'UserKnownHostsFile=/dev/null',
  '-o',
  'LogLevel=ERROR',
  '-o',
  'BatchMode=yes',
  '-o',
  'IdentitiesOnly=yes',
  '-o',
  `ConnectTimeout=${CONNECT_LIMIT_S}`,
  '-o',
  'ControlMaster=auto',
  '-o',
  `ControlPath=${shared}`,
  '-o',
  'ControlPersist=yes',
  'owner@127.0.0.1',
];

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

function execute(words: readonly string[], input: string | Uint8Array, limitMs: number): Promise<Output> {
  const [program = '', ...rest] = words;
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'pipe'] });
    const parts: Buffer[] = [];
    let stderr = '';
    const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
    child.stdout.on('data', (part: Buffer) => void parts.push(part));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => {});
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(late);
      resolve({ code: code ?? 255, stdout: Buffer.concat(parts), stderr });
    });
    child.stdin.end(input);
  });
}

/** Makes a key pair. @returns the path of the private key, and the public key */
export function makeSshKey(folder: string): { readonly file: string; readonly publicKey: string } {
  const file = join(folder, 'owner-key');
  mkdirSync(dirname(file), { recursive: true });
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'owner', '-f', file]);
  return { file, publicKey: readFileSync(`${file}.pub`, 'utf8').trim() };
}
