import { harmless } from '../protocol/plain-text.ts';
import { dropDebugOutput } from './debug-output.ts';
import { createPrinter } from './printer.ts';
import { EXIT, explainError } from './problem.ts';
import { endProcess } from './process-end.ts';
import type { Terminal } from './program.ts';

/** How long after its end a program may still hold something open, milliseconds. */
const LINGER_MS = 2000;
/** And one that has had its time to close everything: what it wrote last may still be on its way. */
const CLOSED_LINGER_MS = 80;

export interface MainOptions {
  /** The program's name, for errors that nobody caught. */
  readonly name: string;
  /** Runs one command line; resolves with the exit code. */
  run(argv: readonly string[], terminal: Terminal): Promise<number>;
  /** Told of an error that nobody caught, before it ends the program. */
  recordCrash?(error: unknown): void;
  /** Whether everything was closed, or given up, when `run` had ended: then nothing is waited for any longer. */
  isClosed?(): boolean;
}

/** What of a process its last resort needs. */
export interface CrashingProcess {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stderr: { write(text: string): unknown };
  exit(code: number): void;
}

/**
 * The last resort for an error that nobody caught: nothing is known of the state that it left behind, so the program ends
 * at once and not with 0, and whoever supervises it (systemd, `Restart=always`) starts it again. Nothing that is said about
 * it may keep it from ending.
 */
export function endOnCrash(
  host: CrashingProcess,
  name: string,
  recordCrash?: (error: unknown) => void,
): void {
  const end = (error: unknown): void => {
    try {
      recordCrash?.(error);
    } catch {
      // The next line says it, too.
    }
    try {
      const { text } = explainError(error, name, Boolean(host.env['DRAGOMAN_DEBUG']));
      host.stderr.write(`${harmless(text)}\n`);
    } catch {
      // There is nobody left to tell.
    }
    host.exit(EXIT.failed);
  };
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) host.on(event, end);
}

/** Lets a program be this process: its command line, its streams, its end. */
export async function runMain({ name, run, recordCrash, isClosed }: MainOptions): Promise<void> {
  dropDebugOutput(process);
  // What is printed is watched where it is printed. A log that cannot be written is no failure, nor are complaints.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { env, stderr } = process;
  const exit = (code: number): void => endProcess(process, code);
  endOnCrash({ env, stderr, exit, on: process.on.bind(process) }, name, recordCrash);
  const print = createPrinter(process.stdout, (why) => {
    stderr.write(`${name}: the output could not be written, or not all of it (${why}). Send it elsewhere.\n`);
    failAtEnd(process);
  });
  const code = await run(process.argv.slice(2), {
    env: process.env,
    print,
    complain: (text) => void stderr.write(text),
  });
  process.exitCode = code;
  // Whatever was forgotten must not keep an ended program alive.
  setTimeout(() => endProcess(process, code), isClosed?.() ? CLOSED_LINGER_MS : LINGER_MS).unref();
}

/** Whoever reads what was printed must not take it for whole. A failure of the verb's own keeps its code. */
function failAtEnd(host: NodeJS.Process): void {
  host.once('exit', (code) => {
    if (code === EXIT.done) host.exitCode = EXIT.failed;
  });
}
