/** The image on an emulated board: QEMU's `virt`, or its Raspberry Pi 3. Nothing of the image is changed for it but the console. */
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
  /** With the name of the card's file. */
  words(card: string, folder: string, isWorn: boolean): string[];
}

const SMP = ['-smp', '2', '-m', '1024'];
// What a board forces out is in a file of this machine then, and outlives QEMU; to this machine's disk it may take seconds, in which
// all of the board stands still.
const BOARDS: Readonly<Record<BoardName, Kind>> = {
  virt: {
    ...{ console: 'ttyAMA0', more: '' },
    words: (card, _, isWorn) => [
      ...[...KINDS.arm64.words, ...SMP],
      ...['-drive', `file=${card},if=none,id=disk,format=raw,cache=unsafe${isWorn ? ',readonly=on' : ''}`],
      ...['-device', 'virtio-blk-pci,drive=disk', '-device', 'virtio-net-pci,netdev=net,id=wire,romfile='],
    ],
  },
  raspi3b: {
    // The first is the console of the firmware; the kernel has the other one.
    console: 'ttyS1,115200',
    // QEMU's starts again as soon as its watchdog is switched on.
    more: ' modprobe.blacklist=bcm2835_wdt',
    words: (card, folder) => [
      ...['-M', 'raspi3b', '-dtb', join(folder, 'bcm2837-rpi-3-b.dtb')],
      ...['-drive', `file=${card},if=sd,format=raw,cache=unsafe`, '-device', 'usb-net,netdev=net,id=wire'],
      ...['-serial', 'null'],
    ],
  },
};

export interface Board extends GuestCommands, Pick<Machine, 'monitor' | 'console'> {
  readonly startedAt: number;
  /** Of QEMU. */
  readonly pid: number;
  /** Whether it can be logged in to; ms since it was switched on. */
  untilLogin(limitMs: number): Promise<number>;
  /** Without a word to anything that runs in it. */
  cutPower(): Promise<void>;
}

export interface Wiring {
  readonly board: BoardName;
  readonly card: Card;
  /** For its files. */
  readonly folder: string;
  /** Ports of this machine's loopback that it reaches as ports of 10.0.2.100; it reaches nothing else. */
  readonly ports: Readonly<Record<number, number>>;
  /** A port of this machine's, for its SSH; the private key beside it is what dragoman.json allows. */
  readonly sshPort: number;
  readonly sshKey: string;
  /** The card can only be read, as worn ones are. */
  readonly isWorn: boolean;
}

const LIFE_LIMIT_MS = 5_400_000;
/** Of what it wrote on its console, where nobody can log in to ask it. */
const CONSOLE_SHOWN = 8000;
const RUN_LIMIT_MS = 90_000;
/** For one login: its keys take seconds of the board's processor. A board that is slower gets longer. */
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
    ...['-accel', 'tcg,thread=multi,tb-size=256', '-display', 'none', '-nodefaults', '-rtc', 'base=utc'],
    ...['-kernel', join(folder, 'vmlinuz'), '-initrd', join(folder, 'initrd.img'), '-append', line],
    ...[
      '-netdev',
      `user,id=net,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:${sshPort}-:22${forwards.join('')}`,
    ],
    ...['-serial', `file:${log}`, '-monitor', `unix:${monitorAt},server=on,wait=off`],
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
    ...{ startedAt, pid: qemu.pid ?? 0 },
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

/** One login for all that is asked of a board: each takes seconds of its processor. It ends with the board. */
const sshLine = (port: number, key: string, shared: string): string[] => [
  ...['-i', key, '-p', String(port), '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'],
  ...['-o', 'LogLevel=ERROR', '-o', 'BatchMode=yes', '-o', 'IdentitiesOnly=yes'],
  ...['-o', `ConnectTimeout=${CONNECT_LIMIT_S}`],
  ...['-o', 'ControlMaster=auto', '-o', `ControlPath=${shared}`, '-o', 'ControlPersist=yes'],
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

/** A key pair; the path of the private one. */
export function makeSshKey(folder: string): { readonly file: string; readonly publicKey: string } {
  const file = join(folder, 'owner-key');
  mkdirSync(dirname(file), { recursive: true });
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'owner', '-f', file]);
  return { file, publicKey: readFileSync(`${file}.pub`, 'utf8').trim() };
}
