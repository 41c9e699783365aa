import { Option } from 'commander';
import { EXIT, Failure } from '../../program/problem.ts';
import type {
  CommandDefinition,
  CommandDefinitions,
  VerbDefinition,
  VerbWord,
} from '../../protocol/mqtt/commands/command-definition.ts';
import type { CtlVerb, Values } from './ctl-task.ts';

/** The verbs of commands that need no output of their own. */
export function commandVerbs(definitions: CommandDefinitions): Record<string, CtlVerb> {
  const verbs = Object.entries(definitions).flatMap(([command, definition]) =>
    definition.verb === null ? [] : [verbOf(command, definition, definition.verb)],
  );
  return Object.fromEntries(verbs);
}

function verbOf(
  command: string,
  definition: CommandDefinition,
  { name = command.replaceAll('_', '-'), says, words = [] }: VerbDefinition,
): [string, CtlVerb] {
  const argument = words.find(isArgument);
  const options = words.filter((word) => !isArgument(word));
  const required = new Set(definition.args.safeParse({}).error?.issues.map(({ path }) => path[0]));
  return [
    name,
    {
      says,
      ...(argument !== undefined && { usage: argument.flags }),
      options: options.map((word) => [
        word.flags,
        `${word.says ?? ''}${required.has(argNameOf(word)) ? ' (required)' : ''}`,
      ]),
      task([text], values) {
        const args = {
          ...(argument !== undefined && argOf(argument, argument.flags.replaceAll(/[<>]/g, ''), text)),
          ...Object.assign({}, ...options.map((word) => optionOf(word, values))),
        };
        checkArgs(definition, args, name);
        return { kind: 'command', name: command, args };
      },
    },
  ];
}

const isArgument = ({ flags }: VerbWord): boolean => flags.startsWith('<');

function optionOf(word: VerbWord, values: Values): object {
  return argOf(word, argNameOf(word), values[new Option(word.flags).attributeName()]);
}

const argNameOf = ({ flags }: VerbWord): string => new Option(flags).name().replaceAll('-', '_');

function argOf({ read }: VerbWord, key: string, given: unknown): object {
  if (given === undefined) return {};
  return { [key]: typeof given === 'string' && read !== undefined ? read(given) : given };
}

/** Checks the arguments before sending, although the device would refuse wrong ones, too. @throws Failure */
export function checkArgs({ args: schema }: CommandDefinition, args: Values, name: string): void {
  const parsed = schema.safeParse(args);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  const isMissing = field !== '' && args[field] === undefined;
  const what = isMissing
    ? 'is missing'
    : issue?.code === 'invalid_type' || issue?.code === 'invalid_value'
      ? `is not a valid argument of "${name}"`
      : issue?.message;
  throw new Failure(`${field === '' ? name : field}: ${what}; see "dragoman ctl help ${name}"`, EXIT.usage);
}
