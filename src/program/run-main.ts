import { allowSlowAddresses } from '../adapters/network/address-attempts.ts';
import { harmless } from '../protocol/common/plain-text.ts';
import { dropDebugOutput } from './debug-output.ts';
import { createPrinter } from './printer.ts';
import { EXIT, explainError } from './problem.ts';
import { endProcess } from './process-end.ts';
import type { Terminal } from './program.ts';

/** Time until a finished program is forced to exit (ms), because something may still be open. */
const LINGER_MS = 2000;
/** The same time if everything is closed (ms): just enough to write the last output. */
const CLOSED_LINGER_MS = 80;

export interface MainOptions {
  /** The program's name, for uncaught errors. */
  readonly name: string;
  /** Runs one command line; resolves with the exit code. */
  run(argv: readonly string[], terminal: Terminal): Promise<number>;
  /** Called with an uncaught error before the program ends. */
  recordCrash?(error: unknown): void;
  /** Whether everything was closed or abandoned at the end of `run`; the program then exits sooner. */
  isClosed?(): boolean;
}

/** The part of a process that `endOnCrash` needs. */
export interface CrashingProcess {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stderr: { write(text: string): unknown };
  exit(code: number): void;
}

/**
 * Handles uncaught errors. The state of the program is unknown afterwards, so it ends at once with a failure and its
 * supervisor restarts it (systemd, `Restart=always`). A failing report must not prevent the end.
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
      // The error is also written to standard error below.
    }
    try {
      const { text } = explainError(error, name, Boolean(host.env['DRAGOMAN_DEBUG']));
      host.stderr.write(`${harmless(text)}\n`);
    } catch {
      // Nothing is left to report to.
    }
    host.exit(EXIT.failed);
  };
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) host.on(event, end);
}

/** Runs a program as this process: command line, streams, exit. */
export async function runMain({ name, run, recordCrash, isClosed }: MainOptions): Promise<void> {
  dropDebugOutput(process);
  allowSlowAddresses();
  // The printer checks the output itself. Failures to write the log or to standard error are ignored.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { env, stderr } = process;
  const exit = (code: number): void => endProcess(process, code);
  endOnCrash({ env, stderr, exit, on: process.on.bind(process) }, name, recordCrash);
  const print = createPrinter(process.stdout, (why) => {
    stderr.write(`${name}: the output is incomplete: writing failed (${why}). Write it to another place.\n`);
    failAtEnd(process);
  });
  const code = await run(process.argv.slice(2), {
    env: process.env,
    print,
    complain: (text) => void stderr.write(text),
  });
  process.exitCode = code;
  // A resource that was not closed must not keep the process alive.
  setTimeout(() => endProcess(process, code), isClosed?.() ? CLOSED_LINGER_MS : LINGER_MS).unref();
}

/** Makes the exit code a failure, so that a reader does not mistake the output for complete. Other failures keep their code. */
function failAtEnd(host: NodeJS.Process): void {
  host.once('exit', (code) => {
    if (code === EXIT.done) host.exitCode = EXIT.failed;
  });
}
