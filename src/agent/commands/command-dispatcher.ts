import { type FinalAnswer, isExpired } from '../../core/owner/command-ledger.ts';
import { type Bucket, fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { commandName, type DeviceAddress, type DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { logRepeated, type RepeatFilter } from '../repeat-filter.ts';
import { type Asker, createCommandAnswers } from './command-answers.ts';
import type { CommandRecord } from './command-record.ts';
import { CommandError, type CommandReading, readCommand, takeSpread } from './command-request.ts';
import type { CommandSignatures } from './command-signature.ts';
import { type CommandTable, prepare, type ReadyCommand } from './command-table.ts';
import { createFanOut } from './fan-out.ts';

/** Longer names are nobody's command: they are not even looked at. */
const LONGEST_NAME = 64;
/** As fast as operators are with good reason. What is above it is refused, so that the sound goes on. */
const COMMAND_RATE: Rate = { burst: 100, perMinute: 600 };
/** This many commands a minute are logged one by one. */
const LOGGED_A_MINUTE = 30;

/** Takes commands in and sees to it that each gets exactly one final answer (docs/mqtt.md). */
export interface CommandDispatcher {
  /** Gives the answers that are owed since the last time: what the end of the program interrupted, or kept from arriving. */
  begin(bus: Bus): void;
  /** False when the topic is no command's. */
  receive(bus: Bus, message: BusMessage): boolean;
  /** Answers what waits for its turn or is not done; resolves when all answers are noted and given. */
  close(): Promise<void>;
  /** An answer waits for the broker, and somebody for the answer. */
  readonly isAwaited: boolean;
  /** Resolves when it is noted which of the last answers have arrived. */
  saved(): Promise<void>;
}

export interface CommandDispatcherDeps {
  readonly address: DeviceAddress;
  /** Whose commands it takes besides its own. */
  readonly groups: readonly string[];
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  readonly record: CommandRecord;
  readonly signatures: CommandSignatures;
  /** Told whenever `isAwaited` may have changed. */
  readonly awaitedChanged?: () => void;
  /** A number in [0, 1), to stagger a fleet. */
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
  let bucket: Bucket = fullBucket(COMMAND_RATE, clock.now());

  const errorOf = (name: string, error: unknown): FinalAnswer => {
    if (error instanceof CommandError) {
      return { status: 'error', error: { code: error.code, message: error.message } };
    }
    log.error({ command: name, err: error }, 'a command failed');
    const message = 'the command failed inside the agent; its log tells more';
    return { status: 'error', error: { code: 'internal', message } };
  };

  /** Tells and logs that a command is not carried out. Nothing of it is noted: it may come again. */
  const refuse = (asker: Asker, code: string, message: string): void => {
    // Not in the room of real answers: a flood that is refused must not push them out.
    answers.final(asker, { status: 'error', error: { code, message } }, 'general');
    const fields = { command: asker.name, code };
    const kind = `command:${code}`;
    logRepeated(deps, { level: 'warn', kind, fields, sentence: 'a command was refused' });
  };

  /** Carries a noted command out, now or at its moment of a fan-out, and gives the final answer. */
  const carryOut = (
    asker: Asker,
    notAfter: string | null | undefined,
    command: ReadyCommand,
    isAccepted: boolean,
  ): void => {
    const { id, name } = asker;
    const settle = (answer: FinalAnswer): void => {
      if (!unfinished.delete(id)) return;
      record.settleThen(id, answer, (given) => answers.final(asker, given), !command.isReadOnly);
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

  const isWithinRate = (): boolean => {
    const spent = spend(bucket, COMMAND_RATE, clock.now());
    bucket = spent.bucket;
    return spent.waitMs === 0;
  };

  /** Everything that can be wrong with a command is found before it is noted, except what only doing it shows. */
  const take = (asker: Asker, message: BusMessage, isFleet: boolean, { request, content }: Reading): void => {
    const { id, name } = asker;
    const noted = { id, name, content };
    const known = record.look(noted);
    if (known === 'other_content') {
      return refuse(asker, 'id_reused', 'this id belongs to another command: use a new one for each');
    }
    // Its answer is on the way.
    if (known === 'open') return asker.received();
    if (known !== 'fresh') {
      if (!asker.isResent || !answers.isGiven(asker)) answers.final(asker, known);
      return;
    }
    logRepeated(deps, {
      ...{ level: 'info', kind: 'command:received', fields: { command: name, id } },
      ...{ sentence: 'command received', atOnce: LOGGED_A_MINUTE },
    });
    // Nothing was done: should the note be lost, no harm comes of it.
    const answerAtOnce = (answer: FinalAnswer): void => {
      record.note(noted);
      record.settleThen(id, answer, (given) => answers.final(asker, given), false);
    };
    try {
      if (message.retain)
        throw new CommandError('retained', 'commands must not be retained: clear the topic');
      const { spreadMs, own } = isFleet ? takeSpread(request.args) : { spreadMs: 0, own: request.args };
      const command = prepare(table, name, own);
      if (isExpired(request.not_after, clock.wall())) return answerAtOnce({ status: 'expired' });
      const bytes = message.payload.length + (asker.correlationData?.byteLength ?? 0);
      if (spreadMs > 0 && !fanOut.hasRoom(bytes)) {
        return refuse(asker, 'busy', 'too many commands wait for their moment already: send it again later');
      }
      unfinished.set(id, (error) => {
        if (!unfinished.delete(id)) return;
        record.settleThen(id, errorOf(name, error), (given) => answers.final(asker, given));
      });
      const act = (): void => carryOut(asker, request.not_after, command, spreadMs > 0);
      // From here on the disk knows of it, or nothing ever will.
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
  /** A command whose signature, if it needs one, is right. */
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
      // What comes in the last seconds is left to the next start, where the broker keeps it.
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
      const reading = readCommand(name, message.payload);
      if (reading.kind === 'nameless') {
        received();
        return ignore('nameless', { command: name }, 'a command without a usable id was ignored');
      }
      const { correlationData } = message.properties;
      const id = reading.kind === 'request' ? reading.request.id : reading.id;
      const isResent = message.again === true;
      const asker: Asker = { bus, name, id, correlationData, isResent, received };
      if (!isWithinRate()) {
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
      const stopping = new CommandError('stopping', 'the agent ended before the command was done');
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

/** Calls `act` when it has been called twice. */
function afterTwo(act: () => void): () => void {
  let calls = 0;
  return () => {
    calls += 1;
    if (calls === 2) act();
  };
}
