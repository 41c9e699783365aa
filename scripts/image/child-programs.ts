import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of a line that the program writes: what of it tells how far it has come; null: nothing. */
  readonly tells?: (line: string) => string | null;
}

export interface Run {
  /** What it wrote on standard output. Throws with its last words where it fails. */
  program(name: string, words: readonly string[], options?: RunOptions): Promise<string>;
  /** Ends what runs, and lets nothing more be started. */
  stop(): Promise<void>;
}

/** Whoever runs this was asked to stop. */
export class StoppedError extends Error {}

/** A program that cleans up after itself is given this time, ms. */
const CLEAN_UP_MS = 20_000;
const LAST_LINES = 6;

/** Runs programs one after the other, each in a process group of its own, so that all of it can be ended. */
export function programs(tell: (text: string) => void, always: Readonly<Record<string, string>> = {}): Run {
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
      const written: string[] = [];
      let [said, rest] = [[] as string[], ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => void written.push(text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
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
    // It has ended meanwhile.
  }
}
