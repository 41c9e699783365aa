import { dropDebugOutput } from './debug-output.ts';
import { EXIT, explainError } from './problem.ts';
import type { Terminal } from './program.ts';

/** How long after its end a program may still hold something open, milliseconds. */
const LINGER_MS = 2000;

export interface MainOptions {
  /** The program's name, for errors that nobody caught. */
  readonly name: string;
  /** Runs one command line; resolves with the exit code. */
  run(argv: readonly string[], terminal: Terminal): Promise<number>;
  /** Told of an error that nobody caught, before it ends the program. */
  recordCrash?(error: unknown): void;
}

/** Lets a program be this process: its command line, its streams, its end. */
export async function runMain({ name, run, recordCrash }: MainOptions): Promise<void> {
  dropDebugOutput(process);
  // A reader that went away (`dragoman check-config | head`) is no failure.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      recordCrash?.(error);
      const { text } = explainError(error, name, Boolean(process.env['DRAGOMAN_DEBUG']));
      process.stderr.write(`${text}\n`);
      process.exit(EXIT.failed);
    });
  }
  process.exitCode = await run(process.argv.slice(2), {
    env: process.env,
    print: (text) => void process.stdout.write(text),
    complain: (text) => void process.stderr.write(text),
  });
  // Whatever was forgotten must not keep an ended program alive.
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
