import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Extracts the progress from a line of the program's output; null if the line has none. */
  readonly tells?: (line: string) => string | null;
}

export interface Run {
  /** Runs a program. @returns its standard output. @throws with its last output if it fails */
  program(name: string, words: readonly string[], options?: RunOptions): Promise<string>;
  /** Ends the running program, and prevents further ones. */
  stop(): Promise<void>;
}

/** The user stopped the build. */
export class StoppedError extends Error {}

/** Time for a program to clean up after SIGTERM (ms). */
const CLEAN_UP_MS = 20_000;
const LAST_LINES = 6;

/**
 * Runs programs one after the other, each in its own process group, so that its children can be ended, too.
 * @param log receives each command line and its standard error
 */
export function programs(
  tell: (text: string) => void,
  log: (text: string) => void,
  always: Readonly<Record<string, string>> = {},
): Run {
  let [current, isStopped]: [ChildProcess | null, boolean] = [null, false];
  return {
    async program(name, words, { cwd, env = {}, tells = () => null } = {}) {
      if (isStopped) throw new StoppedError();
      const child = spawn(name, words, {
        ...(cwd === undefined ? {} : { cwd }),
        env: { ...process.env, LC_ALL: 'C.UTF-8', ...always, ...env },
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      current = child;
      log(`\n$ ${[name, ...words].join(' ')}\n`);
      const written: string[] = [];
      let [said, rest] = [[] as string[], ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => void written.push(text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        log(text);
        const lines = (rest + text).split(/[\r\n]/);
        rest = lines.pop() ?? '';
        said = [...said, ...lines.filter((line) => line.trim() !== '')].slice(-LAST_LINES);
        for (const line of lines) {
          const told = tells(line);
          if (told !== null) tell(told);
        }
      });
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      current = null;
      if (isStopped) throw new StoppedError();
      if (code === 0) return written.join('');
      const lastWords = [...said, rest].filter((line) => line !== '').join('\n  ');
      throw new Error(`${name} ended with ${code ?? signal}${lastWords === '' ? '' : `:\n  ${lastWords}`}`);
    },
    async stop() {
      isStopped = true;
      const child = current;
      if (child?.pid === undefined || child.exitCode !== null) return;
      const gone = once(child, 'close');
      kill(child.pid, 'SIGINT');
      const late = setTimeout(() => kill(child.pid ?? 0, 'SIGKILL'), CLEAN_UP_MS);
      await gone;
      clearTimeout(late);
    },
  };
}

function kill(group: number, signal: 'SIGINT' | 'SIGKILL'): void {
  try {
    process.kill(-group, signal);
  } catch {
    // The program has already ended.
  }
}

/** Whether there is a process with this number. */
export function isRunning(number: number): boolean {
  try {
    return process.kill(number, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
