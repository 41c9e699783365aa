import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { NO_BROWSER } from './browser.ts';

const UNIT = readFileSync(new URL('../../systemd/dragoman-screen.service', import.meta.url), 'utf8');
const PROGRAMS = ['cage', 'Xwayland', 'grim', 'setpriv'];
const missing = PROGRAMS.filter((program) => placeOf(program) === null);
/** Why there is no screen to look at; null: there is. */
export const NO_GLASS =
  NO_BROWSER ??
  (missing.length === 0 ? null : `there is no ${missing.join(', ')}: apt install cage xwayland grim`);

/** A container has no shared memory of its own, and this screen no graphics processor. */
const CHROMIUM = `#!/bin/sh
exec '${process.env['CHROMIUM'] ?? '/usr/bin/chromium'}' --disable-dev-shm-usage --disable-gpu "$@"
`;
/**
 * cage passes the browser's buffer on to a screen of the same size. A screen in memory then shows only the first one, so this
 * screen is upside down, and cage paints it.
 */
const CAGE = `#!/bin/sh
exec '${placeOf('cage')}' -rr "$@"
`;
/** Neither cage nor chromium's sandbox runs for root: as the unit has a user of its own, here it is nobody. */
const NOBODY = 65_534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** What the screen's unit starts, on a screen that only exists in memory. */
export interface Glass {
  /** The picture on the glass; null: there is none. */
  picture(): Promise<Buffer | null>;
  /** Processes of the screen by their command lines. */
  processes(wanted: RegExp): number[];
  /** What a process is and does, in a few words. */
  describe(pid: number): string;
  /** What the unit's program has said. */
  readonly said: string;
  readonly starts: number;
  close(): Promise<void>;
}

/** Runs the unit as systemd does. @param program the built `dragoman.mjs` */
export function openGlass(program: string, port: number): Glass {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-glass-'));
  const runtime = join(folder, 'run');
  makeRuntime(runtime);
  mkdirSync(join(folder, 'bin'));
  for (const place of [tmpdir(), folder, dirname(program)]) makePassable(place);
  for (const [name, script] of Object.entries({ chromium: CHROMIUM, cage: CAGE }))
    writeFileSync(join(folder, 'bin', name), script, { mode: 0o755 });
  const env = {
    ...unitEnvironment(),
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    RUNTIME_DIRECTORY: runtime,
    // wlroots without a display, an input device and a graphics processor.
    WLR_BACKENDS: 'headless',
    WLR_RENDERER: 'pixman',
  };
  const [, , ...words] = unitValue('ExecStart').split(' ');
  const againMs = Number(unitValue('RestartSec')) * 1000;
  let child: ChildProcess | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let said = '';
  let starts = 0;
  const start = (): void => {
    starts += 1;
    // A new RuntimeDirectory, as systemd gives it.
    rmSync(runtime, { recursive: true });
    makeRuntime(runtime);
    const begun = spawn(process.execPath, [program, ...words, '--port', String(port)], {
      env,
      ...user,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = begun;
    for (const output of [begun.stdout, begun.stderr])
      output.on('data', (bytes) => {
        // Of the rest, chromium and wlroots write a lot.
        said +=
          String(bytes)
            .match(/^dragoman: .*\n/gm)
            ?.join('') ?? '';
      });
    begun.on('exit', () => {
      child = null;
      endAll(runtime);
      if (!isClosed) timer = setTimeout(start, againMs);
    });
  };
  start();
  return {
    picture: () => pictureOf(runtime),
    describe: (pid) => `${commandLine(pid).slice(0, 60)} (${stateOf(pid)})`,
    processes: (wanted) => processesIn(runtime).filter((pid) => wanted.test(commandLine(pid))),
    get said() {
      return said;
    },
    get starts() {
      return starts;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const last = child;
      if (last !== null) {
        const ended = new Promise((resolve) => last.on('exit', resolve));
        last.kill('SIGTERM');
        await ended;
      }
      endAll(runtime);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function placeOf(program: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}

function makeRuntime(place: string): void {
  mkdirSync(place, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(place, user.uid, user.gid);
}

/** Temporary folders are for their owner alone. */
function makePassable(folder: string): void {
  if ((statSync(folder).mode & 0o001) === 0) chmodSync(folder, 0o711);
}

function unitValue(key: string): string {
  const [, value] = new RegExp(`^${key}=(.*)$`, 'm').exec(UNIT) ?? [];
  if (value === undefined) throw new Error(`the unit has no ${key}`);
  return value;
}

function unitEnvironment(): Record<string, string> {
  const [name = '', value = ''] = unitValue('Environment').split('=');
  return { [name]: value };
}

async function pictureOf(runtime: string): Promise<Buffer | null> {
  const display = readdirSync(runtime).find((name) => /^wayland-\d+$/.test(name));
  if (display === undefined) return null;
  const env = { ...process.env, XDG_RUNTIME_DIR: runtime, WAYLAND_DISPLAY: display };
  const options = { env, encoding: 'buffer', maxBuffer: 64 * 1024 * 1024, timeout: 5000 } as const;
  try {
    const { stdout } = await promisify(execFile)('grim', ['-t', 'ppm', '-'], options);
    return stdout;
  } catch {
    return null;
  }
}

/** Share of a half of the picture that differs. */
export function difference(half: Half, one: Buffer, other: Buffer): number {
  const before = readPicture(one).bytes;
  return shareOf(half, other, (byte, at) => Math.abs(byte - (before[at] ?? 0)) > 16);
}

/** Share of a half of the picture that is as bright as letters. */
export function brightness(half: Half, picture: Buffer): number {
  return shareOf(half, picture, (byte) => byte > 200);
}

type Half = 'left' | 'right';

function shareOf(half: Half, picture: Buffer, counts: (byte: number, at: number) => boolean): number {
  const { width, bytes } = readPicture(picture);
  const row = width * 3;
  const middle = Math.floor(width / 2) * 3;
  const [from, to] = half === 'left' ? [0, middle] : [middle, row];
  let count = 0;
  // An iterator over these millions of bytes would keep a processor busy.
  for (let start = 0; start < bytes.length; start += row)
    for (let at = start + from; at < start + to; at += 1) if (counts(bytes[at] ?? 0, at)) count += 1;
  return (2 * count) / bytes.length;
}

/** A picture as grim writes it: `P6`, width and height, 255, and three bytes for each point. */
function readPicture(picture: Buffer): { width: number; bytes: Buffer } {
  const [head = '', width = ''] = /^P6\s+(\d+)\s+\d+\s+255\s/.exec(picture.toString('latin1', 0, 64)) ?? [];
  return { width: Number(width), bytes: picture.subarray(head.length) };
}

/** As systemd ends what a unit leaves. */
function endAll(runtime: string): void {
  for (const pid of processesIn(runtime)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Processes whose folder in memory this is. Chromium overwrites the environment of some. */
function processesIn(runtime: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(
      (pid) =>
        pid > 0 &&
        (read(pid, 'environ').includes(`XDG_RUNTIME_DIR=${runtime}\0`) ||
          commandLine(pid).includes(`--user-data-dir=${runtime}/`)),
    );
}

/** The kernel's letter, as `R` or `D`, and where it waits. */
const stateOf = (pid: number): string => `${/\) (\w)/.exec(read(pid, 'stat'))?.[1]} ${read(pid, 'wchan')}`;
const commandLine = (pid: number): string => read(pid, 'cmdline').replaceAll('\0', ' ');

function read(pid: number, file: 'environ' | 'cmdline' | 'stat' | 'wchan'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended, or is a kernel's thread.
    return '';
  }
}
