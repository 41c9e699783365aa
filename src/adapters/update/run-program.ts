import { spawn } from 'node:child_process';

/** Output beyond this is dropped (characters). */
const MOST_OUTPUT = 100_000;

export interface ProgramResult {
  /** Null: it could not be started, or was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMs: number;
}

/** Runs a program without a shell. Never rejects. */
export function runProgram(
  program: string,
  words: readonly string[],
  { cwd, env = {}, limitMs }: ProgramOptions,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(program, words, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
      killSignal: 'SIGKILL',
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length < MOST_OUTPUT) output[name] += text;
      });
    child.on('error', (error) => resolve({ code: null, ...output, stderr: error.message }));
    child.on('close', (code) => resolve({ code, ...output }));
  });
}
