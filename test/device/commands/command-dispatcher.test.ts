import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createCommandDispatcher } from '../../../src/device/commands/command-dispatcher.ts';
import { CommandError } from '../../../src/device/commands/command-request.ts';
import { bindCommands } from '../../../src/device/commands/command-table.ts';
import { createEventLoop } from '../../../src/machine/event-loop.ts';
import { createRepeatFilter } from '../../../src/machine/repeat-filter.ts';
import { createRunner } from '../../../src/machine/runner.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import type { CommandDefinition } from '../../../src/protocol/mqtt/commands/command-definition.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const DO: CommandDefinition = {
  args: z.strictObject({}),
  data: z.unknown(),
  role: 'operator',
  example: {},
  verb: null,
};

/** A device with one command, `do`. */
function device(handle: () => unknown) {
  const clock = createVirtualClock();
  const defects: string[] = [];
  const logged: string[] = [];
  const report = (where: string): void => void defects.push(where);
  const line = (_: object, sentence: string): void => void logged.push(sentence);
  const runner = createRunner({ clock, loop: createEventLoop(() => report('loop')), defects: report });
  const dispatcher = createCommandDispatcher(
    {
      address: { prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' },
      groups: [],
      clock,
      log: { trace() {}, debug() {}, info() {}, warn() {}, error: line },
      repeats: createRepeatFilter(clock),
      runner: runner.apart(),
      file: null,
      signatures: null,
      random: () => 0.5,
    },
    bindCommands({ do: DO }, { do: handle }),
  );
  const done: unknown[] = [];
  const publish: Bus['publish'] = (_, payload, options) => {
    const { status, error, data } = JSON.parse(payload);
    done.push(error?.code ?? data ?? status);
    options?.ended?.(true);
  };
  const send = (id: string): void => {
    const hold = () => () => void done.push('acknowledged');
    const topic = 'dragoman/v1/museum/kiosk-01/cmd/do';
    dispatcher.receive({ publish } as Bus, {
      topic,
      payload: `{"id":"${id}"}`,
      retain: false,
      properties: {},
      hold,
    });
  };
  return { send, done, defects, logged };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the handler of a command', () => {
  it('that answers at once is answered at once', () => {
    const { send, done } = device(() => 'data');
    send('a');
    expect(done).toEqual(['acknowledged', 'data']);
  });

  it('that takes time is answered in two messages', async () => {
    const { send, done } = device(async () => 'data');
    send('a');
    expect(done).toEqual(['acknowledged', 'accepted']);
    await turn();
    expect(done).toEqual(['acknowledged', 'accepted', 'data']);
  });

  it.each([
    ['throws', () => explode(new CommandError('unsupported', 'not here')), 'unsupported', []],
    ['throws a defect', () => explode(new Error('secret')), 'internal', ['a command failed']],
    ['rejects', async () => explode(new CommandError('unsupported', 'not here')), 'unsupported', []],
    ['rejects with a defect', async () => explode(new Error('secret')), 'internal', ['a command failed']],
  ])('that %s is answered with an error', async (_, handle, code, lines) => {
    const { send, done, logged } = device(handle);
    send('a');
    await turn();
    expect([done.at(-1), logged]).toEqual([code, lines]);
  });

  it.each([
    ['at once', () => circle()],
    ['later', async () => circle()],
  ])(
    'that returns %s what is not JSON is answered with an error, and the next one, too',
    async (_, handle) => {
      const { send, done, defects } = device(handle);
      send('a');
      send('b');
      await turn();
      expect(done.filter((each) => each === 'internal')).toHaveLength(2);
      expect(defects).toEqual(['commands.step.done', 'commands.step.done']);
    },
  );
});

function explode(error: Error): never {
  throw error;
}

function circle(): object {
  const one: { self?: object } = {};
  one.self = one;
  return one;
}
