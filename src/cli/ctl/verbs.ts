import { Command } from 'commander';
import { suggest } from '../../adapters/config/known-keys.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { type CommandDefinitions, readNumber } from '../../protocol/mqtt/commands/command-definition.ts';
import { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import { checkArgs, commandVerbs } from './command-verb.ts';
import { addTargetOptions, type CtlOptions, EXIT_CODES } from './ctl-options.ts';
import type { ConfigVerb, CtlVerb, Task, Values } from './ctl-task.ts';

/** The task and the options after the verb. */
export interface Reading {
  readonly task: Task;
  readonly options: CtlOptions & {
    readonly new?: true;
  };
}

const CONFIG_VERBS: readonly ConfigVerb[] = ['get', 'set', 'unset', 'diff'];

/** Verbs with an output of their own. */
const OWN_VERBS: Readonly<Record<string, CtlVerb>> = {
  config: {
    says: 'get, set, unset or diff the desired configuration, such as config set main.targets=es,fr',
    usage: '<words...>',
    options: [['--new', 'set also allows a device or group that the broker does not know yet']],
    task: ([verb = '', ...words]) => {
      const known = CONFIG_VERBS.find((name) => name === verb);
      if (known !== undefined) return { kind: 'config', verb: known, words };
      throw new Failure(`config "${verb}" is unknown; use ${CONFIG_VERBS.join(', ')}`, EXIT.usage);
    },
  },
  logs: {
    says: 'follow the log until Ctrl-C',
    options: [
      ['--follow', 'the default behaviour'],
      ['--level <level>', 'lowest level to show (default: info)'],
      ['--minutes <n>', 'end after this time, at most 60'],
    ],
    task(_, { level = 'info', minutes = '60' }) {
      const args = { level, minutes: readNumber(String(minutes)) };
      checkArgs(COMMANDS.log_stream, args, 'logs');
      return { kind: 'logs', args };
    },
  },
  status: { says: 'show one device in detail, or a table of several', task: () => ({ kind: 'status' }) },
  doctor: { says: "run the device's own checks; they change nothing", task: () => ({ kind: 'doctor' }) },
  watch: { says: 'a live table, problems first, until Ctrl-C', task: () => ({ kind: 'watch' }) },
  help: { says: 'show the help of a verb', usage: '[verb]', task: () => ({ kind: 'help' }) },
};

type Verbs = ReadonlyMap<string, CtlVerb>;

/** All verbs, those of commands first. */
export function verbsOf(definitions: CommandDefinitions): Verbs {
  return new Map(Object.entries({ ...commandVerbs(definitions), ...OWN_VERBS }));
}

const VERBS = verbsOf(COMMANDS);
export const VERB_NAMES: readonly string[] = [...VERBS.keys()];

/**
 * Reads the verb and its arguments. `print` prints help.
 * @throws Failure, CommanderError
 */
export function readVerb(
  words: readonly string[],
  print: (text: string) => void,
  verbs: Verbs = VERBS,
): Reading {
  const [name = '', ...rest] = words;
  const helped = name === 'help' ? rest[0] : undefined;
  const verb = verbs.get(helped ?? name);
  if (verb === undefined) throw unknownVerb(helped ?? name, verbs);
  const command = parserOf(helped ?? name, verb, print);
  if (name === 'help') {
    if (helped === undefined) listVerbs(print, verbs);
    else command.outputHelp();
    return { task: { kind: 'help' }, options: {} };
  }
  command.parse([...rest], { from: 'user' });
  const values: Values = command.opts();
  const task = verb.task(command.args, values);
  return { task, options: values as Reading['options'] };
}

function parserOf(name: string, verb: CtlVerb, print: (text: string) => void): Command {
  const command = addTargetOptions(new Command(`dragoman ctl TARGET ${name}`))
    .description(verb.says)
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} });
  if (verb.usage !== undefined) command.argument(verb.usage);
  for (const [flags, says] of verb.options ?? []) command.option(flags, says);
  return command;
}

function listVerbs(print: (text: string) => void, verbs: Verbs): void {
  print('Usage: dragoman ctl [options] DEVICE VERB ..., or with --group NAME or --all: VERB ...\n\nVerbs:\n');
  for (const [name, { says }] of verbs) print(`  ${name.padEnd(10)}  ${says}\n`);
  print(`\n"dragoman ctl help VERB" shows the options of a verb.\n${EXIT_CODES}\n`);
}

/** The error for an unknown verb. */
function unknownVerb(name: string, verbs: Verbs): Failure {
  const names = [...verbs.keys()];
  const near = suggest(name, names);
  const hint = near === null ? `there are ${names.join(', ')}` : `did you mean "${near}"?`;
  return new Failure(`unknown verb "${name}"; ${hint}`, EXIT.usage);
}
