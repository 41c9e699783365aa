import { CommanderError } from 'commander';
import { redactText } from '../adapters/redaction.ts';
import { fileTrouble } from '../adapters/system-error.ts';

/** Exit codes of the programs; `--help` lists them. */
export const EXIT = { done: 0, failed: 1, usage: 2, problemFound: 3, noAnswer: 4 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that a person can fix: one sentence with what to do next, no stack. */
export class Failure extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

export interface Explanation {
  readonly exitCode: number;
  /** One sentence and a hint; empty if no error is to be printed. */
  readonly text: string;
}

/**
 * Formats an error for standard error.
 * @param command the called command, such as `dragoman run`
 * @param isDebugging whether to print the stack of an unexpected error
 */
export function explainError(error: unknown, command: string, isDebugging: boolean): Explanation {
  if (error instanceof CommanderError) return explainUsage(error, command);
  const name = command.split(' ')[0] ?? command;
  if (error instanceof Failure)
    return { exitCode: error.exitCode, text: `${name}: ${redactText(error.message)}` };
  const detail = error instanceof Error ? error : new Error(String(error));
  if (isDebugging) return { exitCode: EXIT.failed, text: redactText(detail.stack ?? detail.message) };
  const file = fileTrouble(detail);
  if (file !== null) return { exitCode: EXIT.failed, text: `${name}: ${redactText(file)}.` };
  const hint = 'This is a bug: run it again with DRAGOMAN_DEBUG=1 and report the output.';
  return {
    exitCode: EXIT.failed,
    text: `${name}: unexpected failure: ${firstLine(detail.message)}. ${hint}`,
  };
}

/** Formats an error of commander, such as `error: unknown option '--x'\n(Did you mean --y?)`. Help and version are not errors. */
function explainUsage(error: CommanderError, command: string): Explanation {
  if (error.exitCode === 0) return { exitCode: EXIT.done, text: '' };
  const name = command.split(' ')[0] ?? command;
  const hint = `See "${command} --help".`;
  if (error.code === 'commander.help')
    return { exitCode: EXIT.usage, text: `${name}: no command given. ${hint}` };
  const [sentence = '', ...suggestion] = redactText(error.message)
    .replace(/^error: /, '')
    .replace(/(?<= is invalid\. )[a-z]/, (letter) => letter.toUpperCase())
    .split('\n');
  const ended = [sentence, ...suggestion.map((line) => line.replace(/^\((.*)\)$/, '$1'))]
    .map(endSentence)
    .join(' ');
  return { exitCode: EXIT.usage, text: `${name}: ${ended} ${hint}` };
}

export function endSentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

function firstLine(text: string): string {
  return redactText(text.split('\n')[0] ?? '').replace(/\.$/, '');
}
