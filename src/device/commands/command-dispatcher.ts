import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { commandName, type DeviceAddress, type DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { type Asker, createCommandAnswers } from './command-answers.ts';
import { type FinalAnswer, isExpired } from './command-ledger.ts';
import { createCommandRate } from './command-rate.ts';
import type { CommandRecord } from './command-record.ts';
import { CommandError, type CommandReading, readCommand, takeSpread } from './command-request.ts';
import type { CommandSignatures } from './command-signature.ts';
import { type CommandTable, prepare, type ReadyCommand } from './command-table.ts';
import { createFanOut } from './fan-out.ts';

/** Length limit of a command name (characters); our own are shorter. */
const LONGEST_NAME = 64;
/** Commands per minute that are logged one by one. */
const LOGGED_A_MINUTE = 30;

/** Receives commands; each gets exactly one final answer (docs/mqtt.md). */
export interface CommandDispatcher {
  /** Sends the answers owed from the last run: `interrupted`, or an answer that did not reach the broker. */
  begin(bus: Bus): void;
  /** False if the topic is not a command's. */
  receive(bus: Bus, message: BusMessage): boolean;
  /** Answers all unfinished commands; resolves when all answers are saved and published. */
  close(): Promise<void>;
  /** Whether an operator may still be waiting for an answer that has not reached the broker. */
  readonly isAwaited: boolean;
  /** Resolves when the file records which answers have arrived. */
  saved(): Promise<void>;
}

export interface CommandDispatcherDeps {
  readonly address: DeviceAddress;
  /** Groups whose commands the device also accepts. */
  readonly groups: readonly string[];
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  readonly record: CommandRecord;
  readonly signatures: CommandSignatures;
  /** Called whenever `isAwaited` may have changed. */
  readonly awaitedChanged?: () => void;
  /** Called with the number of commands that got no answer in a flood. */
  readonly dropped?: (commands: number) => void;
  /** A number in [0, 1), to spread a fleet. */
  random(): number;
}

type Reading = Extract<CommandReading, { kind: 'request' }>;

export function createCommandDispatcher(deps: CommandDispatcherDeps, table: CommandTable): CommandDispatcher {
  const { clock, log, record, signatures } = deps;
  const fanOut = createFanOut(clock);
  const answers = createCommandAnswers(deps.topics, clock, record, () => deps.awaitedChanged?.());
  let isClosed = false;
  /** Commands without a final answer, by id. */
  const unfinished = new Map<string, (error: CommandError) => void>();
  const rate = createCommandRate(clock, (commands) => deps.dropped?.(commands));

  const errorOf = (name: string, error: unknown): FinalAnswer => {
    if (error instanceof CommandError) {
      return { status: 'error', error: { code: error.code, message: error.message } };
    }
    log.error({ command: name, err: error }, 'a command failed');
    const message = 'the command failed inside the agent; see its log';
    return { status: 'error', error: { code: 'internal', message } };
  };

  /** Answers and logs a refused command. The command is not recorded, so it may be sent again. */
  const refuse = (asker: Asker, code: string, message: string): void => {
    // In the general queue: a flood of refusals must not push real answers out.
    answers.final(asker, { status: 'error', error: { code, message } }, 'general');
    const fields = { command: asker.name, code };
    const kind = `command:${code}`;
    logRepeated(deps, { level: 'warn', kind, fields, sentence: 'a command was refused' });
  };

  /** Carries out a recorded command, at once or at its time in a fan-out, and gives the final answer. */
  const carryOut = (
    asker: Asker,
    notAfter: string | null | undefined,
    command: ReadyCommand,
    isAccepted: boolean,
  ): void => {
    const { id, name } = asker;
    const settle = (answer: FinalAnswer): void => {
      if (!unfinished.delete(id)) return;
      record.settleThen(id, answer, (settled) => answers.final(asker, settled), !command.isReadOnly);
    };
    if (!unfinished.has(id)) return;
    if (isExpired(notAfter, clock.wall())) return settle({ status: 'expired' });
    try {
      const result = command.carryOut();
      if (!(result instanceof Promise)) return settle({ status: 'ok', data: result });
      if (!isAccepted) answers.accepted(asker);
      result.then(
        (data) => settle({ status: 'ok', data }),
        (error: unknown) => settle(errorOf(name, error)),
      );
    } catch (error) {
      settle(errorOf(name, error));
    }
  };

  /** Checks a command, records it and carries it out; some errors show only when it runs. */
  const take = (asker: Asker, message: BusMessage, isFleet: boolean, { request, content }: Reading): void => {
    const { id, name } = asker;
    const noted = { id, name, content };
    const known = record.look(noted);
    if (known === 'other_content') {
      return refuse(asker, 'id_reused', 'this id belongs to another command: use a new one for each');
    }
    // The answer to this command is pending.
    if (known === 'open') return asker.received();
    if (known !== 'fresh') {
      if (!asker.isResent || !answers.isGiven(asker)) answers.final(asker, known);
      return;
    }
    logRepeated(deps, {
      level: 'info',
      kind: 'command:received',
      fields: { command: name, id },
      sentence: 'command received',
      atOnce: LOGGED_A_MINUTE,
    });
    // Nothing was carried out, so losing this record does no harm.
    const answerAtOnce = (answer: FinalAnswer): void => {
      record.note(noted);
      record.settleThen(id, answer, (settled) => answers.final(asker, settled), false);
    };
    try {
      if (message.retain)
        throw new CommandError('retained', 'commands must not be retained: clear the topic');
      const { spreadMs, own } = isFleet ? takeSpread(request.args) : { spreadMs: 0, own: request.args };
      const command = prepare(table, name, own);
      if (isExpired(request.not_after, clock.wall())) return answerAtOnce({ status: 'expired' });
      const bytes = message.payload.length + (asker.correlationData?.byteLength ?? 0);
      if (spreadMs > 0 && !fanOut.hasRoom(bytes)) {
        return refuse(asker, 'busy', 'too many commands are waiting already: send it again later');
      }
      unfinished.set(id, (error) => {
        if (!unfinished.delete(id)) return;
        record.settleThen(id, errorOf(name, error), (given) => answers.final(asker, given));
      });
      const act = (): void => carryOut(asker, request.not_after, command, spreadMs > 0);
      // Called once the command is on the disk, or cannot be saved.
      const receivedThen = (then: () => void) => (): void => {
        asker.received();
        then();
      };
      if (spreadMs > 0) {
        answers.accepted(asker);
        const actWhenBoth = afterTwo(act);
        record.noteThen(noted, receivedThen(actWhenBoth));
        fanOut.wait(deps.random() * spreadMs, bytes, actWhenBoth);
      } else if (command.isReadOnly) {
        record.note(noted);
        act();
      } else {
        record.noteThen(noted, receivedThen(act));
      }
    } catch (error) {
      answerAtOnce(errorOf(name, error));
    }
  };

  const ignore = (kind: string, fields: object, sentence: string): true => {
    logRepeated(deps, { level: 'warn', kind: `command:${kind}`, fields, sentence });
    return true;
  };
  /** Handles a command whose signature is valid, or not needed. */
  const hear = (asker: Asker, message: BusMessage, reading: CommandReading, isFanOut: boolean): void => {
    if (reading.kind === 'request') take(asker, message, isFanOut, reading);
    else refuse(asker, 'malformed', reading.kind === 'malformed' ? reading.message : 'the command has no id');
  };

  return {
    begin(bus) {
      for (const { id, name, answer } of record.owed) {
        const asker = { bus, name, id, correlationData: undefined, isResent: false, received: () => {} };
        answers.final(asker, answer);
      }
    },
    receive(bus, message) {
      const command = commandName(deps.address, message.topic, deps.groups);
      if (command === null) return false;
      const { name } = command;
      const received = message.hold?.() ?? (() => {});
      // Commands during the shutdown are left to the next start: the broker keeps them.
      if (isClosed) return true;
      if (name.length > LONGEST_NAME) {
        const fields = { name_length: name.length };
        received();
        return ignore(
          'long_name',
          fields,
          `a command with a name of more than ${LONGEST_NAME} characters was ignored`,
        );
      }
      const allowed = rate.next();
      if (allowed === 'drop') {
        received();
        return ignore('dropped', {}, 'a command was dropped: too many came at once');
      }
      const reading = readCommand(name, message.payload);
      if (reading.kind === 'nameless') {
        received();
        return ignore('nameless', { command: name }, 'a command without a usable id was ignored');
      }
      const { correlationData } = message.properties;
      const id = reading.kind === 'request' ? reading.request.id : reading.id;
      const isResent = message.again === true;
      const asker: Asker = { bus, name, id, correlationData, isResent, received };
      if (allowed === 'refuse') {
        refuse(asker, 'busy', 'too many commands at once: send it again later');
        return true;
      }
      signatures.read(name, message.payload, (read) => {
        if (!read.ok) return refuse(asker, read.code, read.message);
        const inner = read.payload === message.payload ? reading : readCommand(name, read.payload);
        hear(asker, message, inner, command.fanOut);
      });
      return true;
    },
    close() {
      isClosed = true;
      fanOut.close();
      rate.close();
      const stopping = new CommandError('stopping', 'the agent stopped before the command was done');
      for (const settle of [...unfinished.values()]) settle(stopping);
      answers.close();
      return record.flush();
    },
    get isAwaited() {
      return answers.isAwaited;
    },
    saved: () => record.flush(),
  };
}

/** Returns a function that calls `act` at its second call. */
function afterTwo(act: () => void): () => void {
  let calls = 0;
  return () => {
    calls += 1;
    if (calls === 2) act();
  };
}
