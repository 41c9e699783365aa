import { createHash } from 'node:crypto';
import { readUnverified } from '../../adapters/signing/jws.ts';
import type { Handlers } from '../../machine/machine.ts';
import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import { commandName, type DeviceAddress, deviceTopics } from '../../protocol/mqtt/topics.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import type { FinalAnswer } from './command-ledger.ts';
import {
  type Arrival,
  type CommandEffect,
  type CommandEvent,
  commandMachine,
  INTERNAL,
  isAnswerAwaited,
} from './command-machine.ts';
import { createCommandRecord } from './command-record.ts';
import { CommandError, type CommandFault } from './command-request.ts';
import type { CommandTable } from './command-table.ts';

/** Receives commands; each gets exactly one final answer (docs/mqtt.md). */
export interface CommandDispatcher {
  /** Sends the answers owed from the last run: `interrupted`, or an answer that did not reach the broker. */
  begin(bus: Bus): void;
  /** False if the topic is not a command's. */
  receive(bus: Bus, message: BusMessage): boolean;
  /** The keys that identify the owner from now on; null: signatures are not checked. */
  trust(signatures: SignedContentReader | null): void;
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
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  readonly runner: Runner;
  /** The file of commands; null: they are forgotten at a restart. */
  readonly file: StateFile | null;
  /** Called once with a reason when the file cannot be written, and with null once it can be written again. */
  readonly kept?: (problem: string | null) => void;
  /** Reads with the owner's keys; null: signatures are not checked. */
  readonly signatures: SignedContentReader | null;
  /** Called whenever `isAwaited` may have changed. */
  readonly awaitedChanged?: () => void;
  /** Called with the number of commands that got no answer in a flood. */
  readonly dropped?: (commands: number) => void;
  /** A number in [0, 1), to spread a fleet. */
  random(): number;
}

export function createCommandDispatcher(deps: CommandDispatcherDeps, table: CommandTable): CommandDispatcher {
  const { address, groups, clock, log } = deps;
  const topics = deviceTopics(address);
  let bus: Bus | null = null;
  let { signatures } = deps;
  const receipts = createReceipts();
  const record = createCommandRecord({
    file: deps.file,
    clock,
    log,
    kept: deps.kept ?? (() => {}),
    ledger: () => running.state.ledger,
    found: (found) => running.post({ type: 'found', record: found }),
  });

  const handlers: Handlers<CommandEvent, CommandEffect> = {
    log: (line) => void logRepeated(deps, line),
    report_dropped: ({ count }) => void deps.dropped?.(count),
    awaited_changed: () => void deps.awaitedChanged?.(),
    acknowledge: ({ arrivals }) => void receipts.acknowledge(arrivals),
    draw_delay: ({ id, spreadMs }) => ({ type: 'delay_drawn', id, ms: deps.random() * spreadMs }),
    save: () => void record.save(),
    save_note({ id, key }) {
      record.saveNote(key, (isSaved) => running.post({ type: 'noted', id, isSaved }));
    },
    save_result({ id }) {
      record.saveResult((isSaved) => running.post({ type: 'kept', id, isSaved }));
    },
    open({ number, jws }) {
      if (signatures === null) return { type: 'opened', number, opening: readUnverified(jws) };
      signatures.open(jws, (opening) => running.post({ type: 'opened', number, opening }));
      return undefined;
    },
    carry_out: (command) => carryOut(table, command, log, running.post),
    publish({ asker: { id, name, correlationData }, answer, share }) {
      const payload = JSON.stringify({ ts: timestamp(clock.wall()), id, ...answer });
      const ended = (isDelivered: boolean): void =>
        running.post({ type: 'ended', id, isDelivered, isRefusal: share === 'general' });
      bus?.publish(topics.commandResponse(name), payload, {
        qos: 1,
        share,
        ...(correlationData === undefined ? {} : { properties: { correlationData } }),
        ...(answer.status === 'accepted' ? {} : { ended }),
      });
    },
  };

  const bases = [topics.base, topics.fleetBase, ...groups.map(topics.groupBase)];
  const running = deps.runner.run(
    commandMachine({ bases, shapes: table, digest }, record.before),
    handlers,
    () => ({ hasKeys: signatures !== null, isListed: record.isListed }),
    (event) => {
      if (event.type !== 'broke') running.post({ type: 'broke', during: event });
    },
  );

  return {
    begin(present) {
      bus = present;
      running.post({ type: 'begin' });
    },
    receive(present, message) {
      const command = commandName(address, message.topic, groups);
      if (command === null) return false;
      bus = present;
      running.post({ type: 'arrived', arrival: arrivalOf(message, command, receipts.hold(message.hold)) });
      return true;
    },
    trust(next) {
      signatures = next;
    },
    close() {
      running.post({ type: 'close' });
      return record.flush();
    },
    get isAwaited() {
      return isAnswerAwaited(running.state, clock.now());
    },
    saved: () => record.flush(),
  };
}

function arrivalOf(
  { payload, retain, properties, again }: BusMessage,
  { name, fanOut }: { readonly name: string; readonly fanOut: boolean },
  number: number,
): Arrival {
  return {
    number,
    name,
    payload,
    correlationData: properties.correlationData,
    isFanOut: fanOut,
    isRetained: retain,
    isResent: again === true,
  };
}

/** Holds back the acknowledgements of messages. */
function createReceipts() {
  const held = new Map<number, () => void>();
  let count = 0;
  return {
    /** @returns the number of the message */
    hold(hold: BusMessage['hold']): number {
      count += 1;
      if (hold !== undefined) held.set(count, hold());
      return count;
    },
    acknowledge(numbers: readonly number[]): void {
      for (const number of numbers) {
        held.get(number)?.();
        held.delete(number);
      }
    },
  };
}

/** Calls the handler of a command. Its result is an event, now or later. */
function carryOut(
  table: CommandTable,
  { id, name, args }: Extract<CommandEffect, { type: 'carry_out' }>,
  log: Log,
  post: (event: CommandEvent) => void,
): CommandEvent {
  const done = (data: unknown): CommandEvent => ({ type: 'done', id, answer: { status: 'ok', data } });
  const failed = (error: unknown): CommandEvent => {
    const { code, message } = faultOf(name, error, log);
    const answer: FinalAnswer = { status: 'error', error: { code, message } };
    return { type: 'done', id, answer };
  };
  try {
    const result = table.get(name)?.handle(args);
    if (!(result instanceof Promise)) return done(result);
    result.then(
      (data) => post(done(data)),
      (error: unknown) => post(failed(error)),
    );
    return { type: 'began', id };
  } catch (error) {
    return failed(error);
  }
}

function faultOf(name: string, error: unknown, log: Log): CommandFault {
  if (error instanceof CommandError) return error;
  log.error({ command: name, err: error }, 'a command failed');
  return INTERNAL;
}

/** 128 bits of SHA-256: not forgeable, and short. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
