import { Command, CommanderError } from 'commander';
import { closest, distance } from 'fastest-levenshtein';
import { harmless } from '../protocol/common/plain-text.ts';
import { speakPlainly } from '../protocol/plain-issues.ts';
import { VERSION } from '../protocol/version.ts';
import { EXIT, type ExitCode, explainError } from './problem.ts';

/** The environment of a command line. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output, without adding a newline. */
  print(text: string): void;
  /** Writes to standard error. */
  complain(text: string): void;
}

/** The environment of a verb. */
export interface Shell extends Terminal {
  /** Sets the exit code, unless something fails later. */
  finish(code: ExitCode): void;
}

/** One verb of the program: adds its command, options and action. */
export interface Verb {
  register(program: Command, shell: Shell): void;
}

export interface ProgramOptions extends Terminal {
  readonly name: string;
  readonly summary: string;
  /** Default: the version of the project. */
  readonly version?: string;
  readonly verbs: readonly Verb[];
  /** Without the runtime and the script. */
  readonly argv: readonly string[];
}

const EXIT_CODES = `
Exit codes: 0 done, 1 failed (also if output could not be written), 2 usage or
configuration error, 3 a check found a problem, 4 no answer in time.
After an unexpected failure, DRAGOMAN_DEBUG=1 shows where it happened.`;

/** Example calls for the end of a verb's help, one per line. */
export function examples(...lines: readonly string[]): ['after', string] {
  const title = lines.length === 1 ? 'Example' : 'Examples';
  return ['after', ['', `${title}:`, ...lines.map((line) => `  ${line}`)].join('\n')];
}

/** Runs one command line. Never rejects; resolves with the exit code once the verb has ended. */
export async function runProgram(options: ProgramOptions): Promise<number> {
  speakPlainly();
  let exitCode: ExitCode = EXIT.done;
  const { env } = options;
  // All output is filtered here, so that no quoted text can control the reader's terminal.
  const print: Shell['print'] = (text) => options.print(harmless(text));
  const complain: Shell['complain'] = (text) => options.complain(harmless(text));
  const shell: Shell = { env, print, complain, finish: (code) => (exitCode = code) };
  const program = new Command(options.name)
    .description(options.summary)
    .version(options.version ?? VERSION, '-V, --version', 'print the version')
    // `asHelpOption` handles "help", including nested verbs.
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    // Commander's own error output is off: `explainError` formats the error that it throws.
    .configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} });
  for (const verb of options.verbs) verb.register(program, shell);
  leaveHelpOut(program);
  try {
    await program.parseAsync(asHelpOption(program, options.argv), { from: 'user' });
    return exitCode;
  } catch (error) {
    const called = commandOf(program, options.argv);
    const explanation = explainError(
      betterNamed(error, program, options.argv),
      called,
      Boolean(env['DRAGOMAN_DEBUG']),
    );
    if (explanation.text !== '') complain(`${explanation.text}\n`);
    return explanation.exitCode;
  }
}

/** Rewrites `help sessions list` and `sessions help list` to `sessions list --help`. */
function asHelpOption(program: Command, argv: readonly string[]): string[] {
  const at = argv.indexOf('help');
  const called = program.commands.length === 0 || at < 0 ? null : descend(program, argv.slice(0, at));
  // After a verb without nested verbs, "help" is an ordinary argument.
  if (called === null || called.commands.length === 0) return [...argv];
  const path = argv.slice(0, at);
  let command = called;
  for (const word of argv.slice(at + 1)) {
    if (word.startsWith('-') || command.commands.length === 0) break;
    path.push(word);
    const next = descend(command, [word]);
    // An unknown verb: commander reports it.
    if (next === null) return path;
    command = next;
  }
  return [...path, '--help'];
}

/** The verb at the end of this path of names; null if there is none. */
function descend(from: Command, names: readonly string[]): Command | null {
  return names.reduce<Command | null>(
    (command, name) => command?.commands.find((candidate) => candidate.name() === name) ?? null,
    from,
  );
}

/** Replaces "required option missing" by "unknown option" if a misspelt option is the likely cause. */
function betterNamed(error: unknown, program: Command, argv: readonly string[]): unknown {
  if (!(error instanceof CommanderError) || error.code !== 'commander.missingMandatoryOptionValue')
    return error;
  const known = new Set(['--help']);
  let command = program;
  for (const word of argv) {
    command = command.commands.find((candidate) => candidate.name() === word) ?? command;
  }
  for (const { long, short } of command.options) {
    for (const name of [long, short]) if (name !== undefined) known.add(name);
  }
  const typedWords = argv.map((word) => word.split('=')[0] ?? word);
  const unknown = typedWords.find((word) => word.startsWith('--') && word.length > 2 && !known.has(word));
  if (unknown === undefined) return error;
  const near = closest(unknown, [...known]);
  const hint = distance(unknown, near) <= Math.max(1, near.length / 3) ? `\n(Did you mean ${near}?)` : '';
  return new CommanderError(
    EXIT.usage,
    'commander.unknownOption',
    `error: unknown option '${unknown}'${hint}`,
  );
}

/** The called command with its verbs, such as `dragoman-backend sessions list`, for the hint at its help. */
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

/** Removes the verb "help" from all nested verbs; they have --help like all others. */
function leaveHelpOut({ commands }: Command): void {
  for (const verb of commands) leaveHelpOut(verb.helpCommand(false));
}
