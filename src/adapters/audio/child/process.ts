import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../../ports/clock.ts';
import { systemCode } from '../../system-error.ts';
import { findProgram } from './find-program.ts';
import { dyingWithParent } from './parent-death.ts';

/** How to start a child and how to end it. */
export interface ChildSpec {
  /** The program and its arguments; no shell is involved. */
  readonly words: readonly string[];
  /** Grace period after SIGTERM for a child that can shut down cleanly; without one, SIGKILL comes at once. */
  readonly closingMs?: number;
}

/** How a child ended. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The system's error code when the program could not be started at all; otherwise null. */
  readonly spawnError: string | null;
}

export interface ChildEvents {
  data(bytes: Uint8Array): void;
  /** A line of its standard error, shortened and cleaned. */
  line(text: string): void;
  /** The last call, exactly once. */
  ended(end: ChildEnd): void;
}

export interface Child {
  readonly pid: number | null;
  /** @returns false while data waits in this process */
  write(bytes: Uint8Array): boolean;
  /** Bytes that wait in this process, not yet passed to the child. */
  readonly waitingBytes: number;
  /** Bytes that have left this process for the child; the system buffers some of them even if the child reads none. */
  readonly passedBytes: number;
  kill(): void;
  /** Lets it exit by itself, and kills it if it does not. */
  end(): void;
}

/** Further lines within the same second are ignored: an endless stream of complaints must not load the agent. */
const MOST_LINES_PER_S = 50;
const LONGEST_LINE = 400;

/**
 * Starts a child that uses raw PCM.
 * @param direction `in`: it delivers on its standard output; `out`: it reads from its standard input
 */
export function startChild(
  spec: ChildSpec,
  direction: 'in' | 'out',
  clock: Clock,
  events: ChildEvents,
): Child {
  const [program = '', ...args] = spec.words;
  let isOver = false;
  const settle = (end: ChildEnd): void => {
    if (isOver) return;
    isOver = true;
    events.ended(end);
  };
  if (findProgram(program) === null) {
    setImmediate(() => settle({ code: null, signal: null, spawnError: 'ENOENT' }));
    return NO_CHILD;
  }
  const words = dyingWithParent([program, ...args]);
  let child: ChildProcess;
  try {
    // A process group of its own: descendants of an operator's command end with it, and Ctrl-C reaches the agent alone.
    child = spawn(words[0] ?? '', words.slice(1), {
      stdio: [direction === 'out' ? 'pipe' : 'ignore', direction === 'in' ? 'pipe' : 'ignore', 'pipe'],
      env: childEnvironment(process.env),
      detached: true,
    });
  } catch (error) {
    setImmediate(() => settle({ code: null, signal: null, spawnError: codeOf(error) }));
    return NO_CHILD;
  }
  child.on('error', (error) => settle({ code: null, signal: null, spawnError: codeOf(error) }));
  // `close` waits for the pipes, so the last lines are read; but a grandchild may hold the pipes open for long.
  let lastWords: NodeJS.Timeout | undefined;
  child.on('exit', (code, signal) => {
    // After a blocked event loop, timers run first. `setImmediate` lets the data in the pipe be read before the verdict.
    lastWords = setTimeout(() => setImmediate(() => settle({ code, signal, spawnError: null })), 50);
  });
  child.on('close', (code, signal) => {
    clearTimeout(lastWords);
    settle({ code, signal, spawnError: null });
  });
  child.stdout?.on('data', (bytes: Buffer) => {
    if (!isOver) events.data(bytes);
  });
  child.stdout?.on('error', () => {});
  child.stdin?.on('error', () => {}); // The exit event explains more.
  child.stderr?.on('error', () => {});
  child.stderr?.on(
    'data',
    lineReader(clock, (text) => isOver || events.line(text)),
  );

  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined || isOver) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      child.kill(name);
    }
  };
  let writtenBytes = 0;
  return {
    pid: child.pid ?? null,
    write(bytes) {
      if (child.stdin?.writable !== true) return false;
      writtenBytes += bytes.byteLength;
      return child.stdin.write(bytes);
    },
    get waitingBytes() {
      return child.stdin?.writableLength ?? 0;
    },
    get passedBytes() {
      return writtenBytes - (child.stdin?.writableLength ?? 0);
    },
    kill: () => signal('SIGKILL'),
    end() {
      const { closingMs = 0 } = spec;
      if (closingMs === 0) return signal('SIGKILL');
      child.stdin?.end();
      signal('SIGTERM');
      const timer = setTimeout(() => signal('SIGKILL'), closingMs);
      child.once('exit', () => {
        clearTimeout(timer);
        signal('SIGKILL'); // The rest of its process group.
      });
    },
  };
}

/** Makes the child write English on its standard error, and keeps it from notifying systemd in the daemon's name. */
function childEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NOTIFY_SOCKET: _socket, WATCHDOG_USEC: _usec, WATCHDOG_PID: _pid, ...rest } = own;
  return { ...rest, LC_ALL: 'C' };
}

const NO_CHILD: Child = {
  pid: null,
  write: () => false,
  waitingBytes: 0,
  passedBytes: 0,
  kill() {},
  end() {},
};

function codeOf(error: unknown): string {
  return systemCode(error) ?? 'unknown';
}

/** Splits text into lines; limits their length and number. */
function lineReader(clock: Clock, report: (text: string) => void): (bytes: Buffer) => void {
  let rest = '';
  let budget = MOST_LINES_PER_S;
  let refilledAt = Number.NEGATIVE_INFINITY;
  return (bytes) => {
    const now = clock.now();
    if (now - refilledAt >= 1000) {
      budget = MOST_LINES_PER_S;
      refilledAt = now;
    }
    if (budget <= 0) return;
    const lines = (rest + bytes.toString('latin1')).split(/[\n\r]+/);
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    for (const line of lines) {
      const text = plainText(line).slice(0, LONGEST_LINE);
      if (text === '') continue;
      if (budget-- <= 0) return;
      report(text);
    }
  };
}

/** Text from a child without anything that could disturb a terminal or a log. */
export function plainText(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, ' ').trim();
}
