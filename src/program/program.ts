import { Command } from 'commander';
import { VERSION } from '../protocol/version.ts';
import { EXIT, type ExitCode, explainError } from './problem.ts';

/** The world that a command line is typed into. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output; the text ends its own lines. */
  print(text: string): void;
  /** Writes to standard error. */
  complain(text: string): void;
}

/** What a verb may touch of the world around it. */
export interface Shell extends Terminal {
  /** What the program will exit with, unless something fails later. */
  finish(code: ExitCode): void;
}

/** One verb of the program: adds its command, options and action. */
export interface Verb {
  register(program: Command, shell: Shell): void;
}

export interface ProgramOptions extends Terminal {
  readonly name: string;
  readonly summary: string;
  /** The project's own, unless told otherwise. */
  readonly version?: string;
  readonly verbs: readonly Verb[];
  /** Without the runtime and the script. */
  readonly argv: readonly string[];
}

/** Ends a verb's help: how it is called, one line each. */
export function examples(...lines: readonly string[]): ['after', string] {
  const title = lines.length === 1 ? 'Example' : 'Examples';
  return ['after', ['', `${title}:`, ...lines.map((line) => `  ${line}`)].join('\n')];
}

/** Runs one command line. Never rejects; resolves with the exit code once the verb has ended. */
export async function runProgram(options: ProgramOptions): Promise<number> {
  let exitCode: ExitCode = EXIT.done;
  const { env } = options;
  const print: Shell['print'] = (text) => options.print(text);
  const complain: Shell['complain'] = (text) => options.complain(text);
  const shell: Shell = { env, print, complain, finish: (code) => (exitCode = code) };
  const program = new Command(options.name)
    .description(options.summary)
    .version(options.version ?? VERSION, '-V, --version', 'print the version')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .exitOverride()
    // Commander's own complaints are worded again, in one place, from the error it throws.
    .configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} });
  for (const verb of options.verbs) verb.register(program, shell);
  // A verb with verbs of its own explains itself with --help, as all others do.
  for (const verb of program.commands) verb.helpCommand(false);
  try {
    await program.parseAsync([...options.argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    const called = commandOf(program, options.argv);
    const explanation = explainError(error, called, Boolean(env['DRAGOMAN_DEBUG']));
    if (explanation.text !== '') complain(`${explanation.text}\n`);
    return explanation.exitCode;
  }
}

/** The program with the verbs that were called, such as `dragoman-backend sessions list`: where help is found. */
function commandOf(program: Command, argv: readonly string[]): string {
  const words = [program.name()];
  let command = program;
  for (const word of argv) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) continue;
    words.push(word);
    command = next;
  }
  return words.join(' ');
}
