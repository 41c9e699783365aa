import type { z } from 'zod';
import { EMPTY_LEDGER, isExpired, note } from '../core/command-ledger.ts';
import type { Bus, BusMessage } from '../ports/bus.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import {
  COMMAND_ARGS,
  type CommandName,
  type CommandRequest,
  type CommandResponse,
  commandRequestSchema,
  FLEET_SPREAD_S,
} from '../protocol/mqtt/command.ts';
import { timestamp } from '../protocol/mqtt/envelope.ts';
import { commandName, type DeviceAddress, type DeviceTopics } from '../protocol/mqtt/topics.ts';

/** A command that can't be carried out; the operator reads both. */
export class CommandError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export type CommandArgs<N extends CommandName> = z.infer<(typeof COMMAND_ARGS)[N]>;
/**
 * What each command does: gives the answer's `data`, or throws a `CommandError`. A promise of either makes the desk say
 * `accepted` first.
 */
export type CommandHandlers = { readonly [N in CommandName]: (args: CommandArgs<N>) => unknown };

/** Takes commands in and sees to it that each gets exactly one final answer (CONTRACT section 3). */
export interface CommandDesk {
  /** False when the topic is no command's. */
  receive(bus: Bus, message: BusMessage): boolean;
  /** Forgets fan-out commands that still wait for their turn, and answers those that are not done. */
  close(): void;
}

export interface CommandDeskWorld {
  readonly address: DeviceAddress;
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  readonly log: Log;
  /** A number in [0, 1), to stagger a fleet. */
  random(): number;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMAND_ARGS, name);
}

export function createCommandDesk(world: CommandDeskWorld, handlers: CommandHandlers): CommandDesk {
  let ledger = EMPTY_LEDGER;
  const delayed = new Set<() => void>();
  const unfinished = new Set<() => void>();

  const answer = (
    bus: Bus,
    name: string,
    message: BusMessage,
    response: Omit<CommandResponse, 'ts'>,
  ): void => {
    const { correlationData } = message.properties;
    bus.publish(
      world.topics.commandResponse(name),
      JSON.stringify({ ts: timestamp(world.clock.wall()), ...response }),
      correlationData === undefined ? { qos: 1 } : { qos: 1, properties: { correlationData } },
    );
  };

  const fail = (bus: Bus, name: string, message: BusMessage, id: string, error: unknown): void => {
    const known = error instanceof CommandError;
    if (!known) world.log.error({ command: name, err: error }, 'a command failed');
    const code = known ? error.code : 'internal';
    const text = known ? error.message : 'the command failed inside the agent; its log tells more';
    answer(bus, name, message, { id, status: 'error', error: { code, message: text } });
  };

  /** The final answer comes when there is one, or when the agent ends before that. */
  const finishLater = (
    result: Promise<unknown>,
    say: (response: Omit<CommandResponse, 'ts' | 'id'>) => void,
    sayError: (error: unknown) => void,
  ): void => {
    const giveUp = (): void =>
      sayError(new CommandError('stopping', 'the agent ended before the command was done'));
    unfinished.add(giveUp);
    const settle = (act: () => void): void => {
      if (unfinished.delete(giveUp)) act();
    };
    result.then(
      (data) => settle(() => say({ status: 'ok', data })),
      (error: unknown) => settle(() => sayError(error)),
    );
  };

  const execute = (
    bus: Bus,
    name: string,
    message: BusMessage,
    request: CommandRequest,
    accepted = false,
  ): void => {
    const { id } = request;
    const say = (response: Omit<CommandResponse, 'ts' | 'id'>): void =>
      answer(bus, name, message, { id, ...response });
    const sayError = (error: unknown): void => fail(bus, name, message, id, error);
    try {
      if (isExpired(request.not_after, world.clock.wall())) return say({ status: 'expired' });
      const result = carryOut(handlers, name, request.args);
      if (!(result instanceof Promise)) return say({ status: 'ok', data: result });
      if (!accepted) say({ status: 'accepted' });
      finishLater(result, say, sayError);
    } catch (error) {
      sayError(error);
    }
  };

  return {
    receive(bus, message) {
      const command = commandName(world.address, message.topic);
      if (command === null) return false;
      const parsed = commandRequestSchema.safeParse(parseJson(message.payload));
      if (!parsed.success) {
        answerMalformed(world, bus, command.name, message, answer);
        return true;
      }
      const request = parsed.data;
      const noted = note(ledger, request.id);
      ledger = noted.ledger;
      if (!noted.fresh) {
        world.log.debug({ command: command.name }, 'a command that was already answered came again');
        return true;
      }
      world.log.info({ command: command.name, id: request.id }, 'command received');
      if (message.retain) {
        const error = { code: 'retained', message: 'commands must not be retained: clear the topic' };
        answer(bus, command.name, message, { id: request.id, status: 'error', error });
        return true;
      }
      const spreadMs = command.fleet ? takeSpread(request) : 0;
      if (spreadMs === 0) {
        execute(bus, command.name, message, request);
        return true;
      }
      answer(bus, command.name, message, { id: request.id, status: 'accepted' });
      const cancel = world.clock.at(world.clock.now() + world.random() * spreadMs, () => {
        delayed.delete(cancel);
        execute(bus, command.name, message, request, true);
      });
      delayed.add(cancel);
      return true;
    },
    close() {
      for (const cancel of delayed) cancel();
      delayed.clear();
      for (const giveUp of unfinished) giveUp();
      unfinished.clear();
    },
  };
}

/** An id that can be read gets its error; without one there is nobody to answer. */
function answerMalformed(
  world: CommandDeskWorld,
  bus: Bus,
  name: string,
  message: BusMessage,
  answer: (bus: Bus, name: string, message: BusMessage, response: Omit<CommandResponse, 'ts'>) => void,
): void {
  const json = parseJson(message.payload);
  const id = commandRequestSchema.shape.id.safeParse(
    typeof json === 'object' && json !== null && 'id' in json ? json.id : undefined,
  );
  if (!id.success) {
    world.log.warn({ command: name }, 'a command without a usable id was ignored');
    return;
  }
  const problem = 'the command must be {"id", "args": {...}, "not_after"?: ISO 8601 time}';
  answer(bus, name, message, {
    id: id.data,
    status: 'error',
    error: { code: 'malformed', message: problem },
  });
}

/** Takes the fleet's own argument out, so that the command's schema sees only its own. */
function takeSpread(request: CommandRequest): number {
  const spreadS = request.args[FLEET_SPREAD_S.key];
  delete request.args[FLEET_SPREAD_S.key];
  return typeof spreadS === 'number' && spreadS > 0 ? Math.min(spreadS, FLEET_SPREAD_S.max) * 1000 : 0;
}

function carryOut(handlers: CommandHandlers, name: string, args: Record<string, unknown>): unknown {
  if (!isCommand(name)) {
    const known = Object.keys(COMMAND_ARGS).join(', ');
    throw new CommandError(
      'unknown_command',
      `there is no command "${name.slice(0, 40)}"; there are ${known}`,
    );
  }
  return carryOutKnown(handlers, name, args);
}

function carryOutKnown<N extends CommandName>(handlers: CommandHandlers, name: N, args: unknown): unknown {
  const parsed = COMMAND_ARGS[name].safeParse(args);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => {
      const field = issue.path.join('.');
      return field === '' ? issue.message : `${field}: ${issue.message}`;
    });
    throw new CommandError('invalid_args', issues.join('; '));
  }
  return handlers[name](parsed.data as CommandArgs<N>);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
