import { Command, InvalidArgumentError } from 'commander';
import { suggest } from '../../adapters/config/keys.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { COMMAND_ARGS, type CommandName } from '../../protocol/mqtt/command.ts';
import { addTargetOptions, type CtlOptions } from './ctl-options.ts';

export type ConfigVerb = 'get' | 'set' | 'unset' | 'diff';

/** The task with its arguments from the command line. */
export type Task =
  | { readonly kind: 'command'; readonly name: CommandName; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'logs'; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'status' | 'doctor' | 'watch' }
  | { readonly kind: 'config'; readonly verb: ConfigVerb; readonly words: readonly string[] }
  | { readonly kind: 'help' };

/** The task and the options after the verb. */
export interface Reading {
  readonly task: Task;
  readonly options: CtlOptions & { readonly spread?: number; readonly validFor?: number };
}

type Values = Readonly<Record<string, unknown>>;

interface CtlVerb {
  readonly says: string;
  readonly usage?: string;
  readonly options?: readonly (readonly [string, string])[];
  task(words: readonly string[], values: Values): Task;
}

const lane = ['--lane <id>', 'one lane only; left out: all'] as const;

const onLane = (name: CommandName, says: string): CtlVerb => ({
  says,
  options: [lane],
  task: (_, values) => ({ kind: 'command', name, args: pick(values, ['lane']) }),
});

const CONFIG_VERBS: readonly ConfigVerb[] = ['get', 'set', 'unset', 'diff'];

const VERBS: Readonly<Record<string, CtlVerb>> = {
  start: {
    says: 'start to listen; a waiting or parked lane retries at once',
    options: [
      lane,
      [
        '--until <time>',
        'keep it open until this time regardless of the schedule, such as 2026-05-04T20:00:00Z',
      ],
    ],
    task: (_, values) => ({ kind: 'command', name: 'start', args: pick(values, ['lane', 'until']) }),
  },
  stop: onLane('stop', 'stop listening and speaking at once'),
  mute: onLane('mute', 'mute the microphone'),
  unmute: onLane('unmute', 'unmute the microphone'),
  volume: {
    says: 'set the volume of the loudspeaker',
    usage: '<percent>',
    options: [lane],
    task: ([percent = ''], values) => ({
      kind: 'command',
      name: 'volume',
      args: { percent: percent.trim() === '' ? percent : Number(percent), ...pick(values, ['lane']) },
    }),
  },
  languages: {
    says: 'set the source and target languages',
    options: [
      ['--source <language>', 'language of the speech at the microphone, such as en'],
      ['--targets <languages>', 'languages of the translations, such as es,fr'],
      lane,
    ],
    task: (_, values) => ({
      kind: 'command',
      name: 'languages',
      args: {
        ...pick(values, ['source', 'lane']),
        ...(typeof values['targets'] === 'string' && { targets: values['targets'].split(',') }),
      },
    }),
  },
  echo: {
    says: 'set the echo protection: half-duplex, cancel or off',
    usage: '<mode>',
    options: [lane],
    task: ([mode = ''], values) => ({
      kind: 'command',
      name: 'echo',
      args: { mode, ...pick(values, ['lane']) },
    }),
  },
  voice: {
    says: 'set the voice of the translation; "none" is the default of the service',
    usage: '<voice>',
    options: [lane],
    task: ([voice = ''], values) => ({
      kind: 'command',
      name: 'voice',
      args: { voice: voice === 'none' ? null : voice, ...pick(values, ['lane']) },
    }),
  },
  say: {
    says: "speak a text in the lane's session; answered after playback",
    usage: '<text>',
    options: [
      ['--language <language>', 'language of the speech, such as es'],
      ['--translate', 'the text is in the source language: translate it first'],
      lane,
    ],
    task: ([text = ''], values) => ({
      kind: 'command',
      name: 'say',
      args: { text, ...pick(values, ['language', 'translate', 'lane']) },
    }),
  },
  identify: {
    says: 'play chimes, to find the device in a room',
    options: [lane, ['--seconds <n>', 'duration (default: 10)']],
    task: (_, values) => ({
      kind: 'command',
      name: 'identify',
      args: { ...numbers(values, ['seconds']), ...pick(values, ['lane']) },
    }),
  },
  'log-level': {
    says: 'set the lowest level that is logged',
    usage: '<level>',
    options: [['--minutes <n>', 'return to the configured level after this time; left out: at a restart']],
    task: ([level = ''], values) => ({
      kind: 'command',
      name: 'log_level',
      args: { level, ...numbers(values, ['minutes']) },
    }),
  },
  config: {
    says: 'get, set, unset or diff the desired configuration, such as config set main.targets=es,fr',
    usage: '<words...>',
    task: ([verb = '', ...words]) => {
      const known = CONFIG_VERBS.find((name) => name === verb);
      if (known !== undefined) return { kind: 'config', verb: known, words };
      throw new Failure(`config "${verb}" is unknown; use ${CONFIG_VERBS.join(', ')}`, EXIT.usage);
    },
  },
  restart: {
    says: 'shut the agent down cleanly; systemd restarts it',
    task: () => ({ kind: 'command', name: 'restart', args: {} }),
  },
  reboot: { says: 'reboot the device', task: () => ({ kind: 'command', name: 'reboot', args: {} }) },
  logs: {
    says: 'follow the log until Ctrl-C',
    options: [
      ['--follow', 'the default behaviour'],
      ['--level <level>', 'lowest level to show (default: info)'],
      ['--minutes <n>', 'end after this time, at most 60'],
    ],
    task: (_, values) => ({
      kind: 'logs',
      args: { level: values['level'] ?? 'info', minutes: 60, ...numbers(values, ['minutes']) },
    }),
  },
  status: { says: 'show one device in detail, or a table of several', task: () => ({ kind: 'status' }) },
  doctor: { says: "run the device's own checks; they change nothing", task: () => ({ kind: 'doctor' }) },
  watch: { says: 'a live table, problems first, until Ctrl-C', task: () => ({ kind: 'watch' }) },
  help: { says: 'show the help of a verb', usage: '[verb]', task: () => ({ kind: 'help' }) },
};

export const VERB_NAMES: readonly string[] = Object.keys(VERBS);

/** Reads the verb and its arguments. `print` receives help texts. @throws Failure, CommanderError */
export function readVerb(words: readonly string[], print: (text: string) => void): Reading {
  const [name = '', ...rest] = words;
  const helped = name === 'help' ? rest[0] : undefined;
  const verb = VERBS[helped ?? name];
  if (verb === undefined || !Object.hasOwn(VERBS, helped ?? name)) throw unknownVerb(helped ?? name);
  const command = parserOf(helped ?? name, verb, print);
  if (name === 'help') {
    if (helped === undefined) listVerbs(print);
    else command.outputHelp();
    return { task: { kind: 'help' }, options: {} };
  }
  command.parse([...rest], { from: 'user' });
  const values: Values = command.opts();
  const task = verb.task(command.args, values);
  if (task.kind === 'command') checkArgs(task.name, task.args, name);
  if (task.kind === 'logs') checkArgs('log_stream', task.args, name);
  return { task, options: values as Reading['options'] };
}

function parserOf(name: string, verb: CtlVerb, print: (text: string) => void): Command {
  const command = addTargetOptions(new Command(`dragoman ctl TARGET ${name}`))
    .description(verb.says)
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} })
    .option(
      '--spread <seconds>',
      'with --group or --all: each device waits a random part of this time',
      readSeconds(3600),
    )
    .option(
      '--valid-for <seconds>',
      'an offline device runs it if it returns within this time (default: it does not)',
      readSeconds(86_400),
    );
  if (verb.usage !== undefined) command.argument(verb.usage);
  for (const [flags, says] of verb.options ?? []) command.option(flags, says);
  return command;
}

function listVerbs(print: (text: string) => void): void {
  for (const [name, { says }] of Object.entries(VERBS)) print(`  ${name.padEnd(10)}  ${says}\n`);
}

/** Checks arguments before they are sent, so that the user sees the error sooner. */
function checkArgs(command: CommandName, args: Values, name: string): void {
  const parsed = COMMAND_ARGS[command].safeParse(args);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  const what =
    issue?.code === 'invalid_type' || issue?.code === 'invalid_value'
      ? `is not a valid argument of "${name}"`
      : issue?.message;
  throw new Failure(`${field === '' ? name : field}: ${what}; see "dragoman ctl help ${name}"`, EXIT.usage);
}

function readSeconds(most: number): (text: string) => number {
  return (text) => {
    const seconds = Number(text);
    if (text !== '' && Number.isFinite(seconds) && seconds >= 0 && seconds <= most) return seconds;
    throw new InvalidArgumentError(`It must be a number of seconds, at most ${most}.`);
  };
}

function pick(values: Values, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
}

/** The error for an unknown verb. */
function unknownVerb(name: string): Failure {
  const near = suggest(name, VERB_NAMES);
  const hint = near === null ? `use ${VERB_NAMES.join(', ')}` : `did you mean "${near}"?`;
  return new Failure(`unknown verb "${name}"; ${hint}`, EXIT.usage);
}

function numbers(values: Values, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(pick(values, names)).map(([name, text]) => [name, Number(text)]));
}
