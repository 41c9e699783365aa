/** A new command needs only a definition and a handler; the rest follows the registry. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { commandSections } from '../../../scripts/docs/mqtt-parts.ts';
import { personAccess } from '../../../src/backend/broker/access.ts';
import { readVerb, verbsOf } from '../../../src/cli/ctl/verbs.ts';
import { createCommandDispatcher } from '../../../src/device/commands/command-dispatcher.ts';
import { bindCommands, type CommandHandlers } from '../../../src/device/commands/command-table.ts';
import { createEventLoop } from '../../../src/machine/event-loop.ts';
import { createRepeatFilter } from '../../../src/machine/repeat-filter.ts';
import { createRunner } from '../../../src/machine/runner.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import {
  type CommandDefinitions,
  LANE_WORD,
  laneArg,
  readNumber,
} from '../../../src/protocol/mqtt/commands/command-definition.ts';
import { COMMANDS } from '../../../src/protocol/mqtt/commands/registry.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

/** Rings a bell. It exists only here, to show what a command needs. */
const BELL = {
  ring_bell: {
    args: z
      .strictObject({ ...laneArg, times: z.int().min(1).max(9).describe('how often') })
      .describe('Rings a bell.'),
    data: z.strictObject({ rung: z.number().describe('how often it has rung') }),
    role: 'administrator',
    mustBeSigned: true,
    example: { times: 3 },
    verb: { says: 'ring a bell', words: [{ flags: '<times>', read: readNumber }, LANE_WORD] },
  },
} as const satisfies CommandDefinitions;
const WITH_BELL = { ...COMMANDS, ...BELL };

const ADDRESS = { prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' };
const topics = deviceTopics(ADDRESS);
const mute = (): void => {};
const log = { trace: mute, debug: mute, info: mute, warn: mute, error: mute };

/** @param hasKeys whether the owner has keys; no message in this test is signed */
function device(hasKeys = false) {
  const clock = createVirtualClock();
  const refuse = () => {
    throw new Error('not in this test');
  };
  const others = Object.fromEntries(Object.keys(COMMANDS).map((name) => [name, refuse]));
  const handlers: CommandHandlers<typeof BELL> = { ring_bell: ({ times }) => ({ rung: times }) };
  const table = new Map([
    ...bindCommands<CommandDefinitions>(COMMANDS, others),
    ...bindCommands(BELL, handlers),
  ]);
  const dispatcher = createCommandDispatcher(
    {
      address: ADDRESS,
      groups: [],
      clock,
      log,
      random: () => 0.5,
      repeats: createRepeatFilter(clock),
      runner: createRunner({ clock, loop: createEventLoop(refuse), defects: refuse }),
      file: null,
      signatures: hasKeys ? { open: mute } : null,
    },
    table,
  );
  const answers: unknown[] = [];
  const bus = {
    publish: (topic: string, payload: string) => answers.push({ topic, ...(JSON.parse(payload) as object) }),
  } as unknown as Bus;
  const send = (name: string, args: object, id = 'c1'): void => {
    const payload = JSON.stringify({ id, args });
    dispatcher.receive(bus, { topic: topics.command(name), payload, retain: false, properties: {} });
  };
  return { send, answers };
}

describe('a command that is added to the registry', () => {
  it('is carried out, with exactly one final answer per id', () => {
    const { send, answers } = device();
    send('ring_bell', { times: 3 });
    const answer = { topic: `${topics.base}/cmd/ring_bell/res`, id: 'c1', status: 'ok', data: { rung: 3 } };
    expect(answers).toMatchObject([answer]);
    send('ring_bell', { times: 3 });
    expect(answers).toMatchObject([answer, answer]);
    send('ring_bell', { times: 4 });
    expect(answers.at(-1)).toMatchObject({ status: 'error', error: { code: 'id_reused' } });
  });

  it('is refused when its arguments do not fit its schema', () => {
    const { send, answers } = device();
    send('ring_bell', { times: 10 });
    expect(answers).toMatchObject([{ error: { code: 'invalid_args' } }]);
    send('ring_bells', { times: 1 }, 'c2');
    expect(answers.at(-1)).toMatchObject({ error: { code: 'unknown_command' } });
    expect(JSON.stringify(answers.at(-1))).toContain('ring_bell');
  });

  it('is refused unsigned when it must be signed and the owner has keys', () => {
    const { send, answers } = device(true);
    send('ring_bell', { times: 3 });
    expect(answers).toMatchObject([{ status: 'error', error: { code: 'unsigned' } }]);
  });

  it('may be sent by its role only', () => {
    const topicsOf = (role: 'operator' | 'administrator') =>
      personAccess(role, 'dragoman/v1', 'museum', WITH_BELL).publish.join('\n');
    expect(topicsOf('operator')).not.toContain('ring_bell');
    expect(topicsOf('administrator')).toContain('/cmd/+');
    const asOperator = { ...WITH_BELL, ring_bell: { ...BELL.ring_bell, role: 'operator' as const } };
    expect(personAccess('operator', 'dragoman/v1', 'museum', asOperator).publish.join('\n')).toContain(
      'dragoman/v1/museum/+/cmd/ring_bell',
    );
  });

  it('has a verb in ctl with checked arguments and help', () => {
    const verbs = verbsOf(WITH_BELL);
    const { task } = readVerb(['ring-bell', '3', '--lane', 'main'], mute, verbs);
    expect(task).toEqual({ kind: 'command', name: 'ring_bell', args: { times: 3, lane: 'main' } });
    expect(() => readVerb(['ring-bell', '10'], mute, verbs)).toThrow('see "dragoman ctl help ring-bell"');
    expect(() => readVerb(['ring-bel'], mute, verbs)).toThrow('did you mean "ring-bell"?');
    let help = '';
    const print = (text: string): void => {
      help += text;
    };
    readVerb(['help'], print, verbs);
    readVerb(['help', 'ring-bell'], print, verbs);
    expect(help).toMatch(/ring-bell +ring a bell/);
    expect(help).toContain('dragoman ctl TARGET ring-bell');
    expect(help).toContain(LANE_WORD.says);
  });

  it('is in the reference with its fields and its example', () => {
    const reference = commandSections(WITH_BELL);
    expect(reference).toContain('### ring_bell\n\nRings a bell.');
    expect(reference).toMatch(/\| `args\.times` \|.*\| how often \|/);
    expect(reference).toContain(`-m '{"id":"a1","args":{"times":3}}'`);
    expect(reference).toContain('| `rung` |');
    expect(reference.startsWith(commandSections(COMMANDS))).toBe(true);
  });
});
