/**
 * Commands from their arrival to their answer. Each id is carried out once and gets one final answer. A command is saved before it is
 * carried out, and its result before it is answered, so that a restart neither repeats nor forgets it.
 */

import {
  type Failed,
  followedBy,
  type Machine,
  type Moment,
  type Step,
  stay,
  type Time,
} from '../../machine/machine.ts';
import type { Opening } from '../../ports/signature.ts';
import {
  type AnswerEffect,
  type Answers,
  type Asker,
  acknowledge,
  awaitedUntil,
  endAnswer,
  endWait,
  giveAnswer,
  isAwaited,
  joinAnswer,
  NO_ANSWERS,
} from './command-answers-rules.ts';
import {
  type CommandLedger,
  type FinalAnswer,
  isExpired,
  type KeptRecord,
  type LedgerEntry,
  look,
  note,
  settle,
  tell,
} from './command-ledger.ts';
import { type CommandRate, countCommand, UNUSED_RATE } from './command-rate-rules.ts';
import { type CommandFault, type CommandReading, readCommand, takeSpread } from './command-request.ts';
import { judgeCommand, readCommandEnvelope } from './command-signature-rules.ts';
import { type CommandShapes, checkArgs } from './command-table.ts';

/** Length limit of a command name (characters); our own are shorter. */
const LONGEST_NAME = 64;
/** Commands per minute that are logged one by one. */
const LOGGED_A_MINUTE = 30;
/** Dropped commands are counted for this long (ms), then reported as one number. */
const REPORT_DROPPED_MS = 60_000;
/** Maximum number of signatures checked at one time: a flood must not use the whole CPU. */
const MOST_CHECKS = 32;
/** Maximum number of commands that wait for this device's turn; each waits for up to an hour. */
const MOST_WAITING = 100;
/** Maximum total size of the waiting commands (bytes). */
const MOST_WAITING_BYTES = 1_048_576;

/** Note on an answer while the disk still lists its command as unfinished: after a restart it would be `interrupted`. */
const UNSAVED =
  'this is the result, but its record is not on the disk yet: do not send the command again, even if a restart answers "interrupted"';
export const INTERNAL: CommandFault = {
  code: 'internal',
  message: 'the command failed inside the agent; see its log',
};
const BUSY: CommandFault = { code: 'busy', message: 'too many commands at once: send it again later' };

/** What stays the same for as long as the agent runs. */
export interface CommandSettings {
  /** Topic bases that a command may be signed for: the device's, its groups' and the fleet's. */
  readonly bases: readonly string[];
  readonly shapes: CommandShapes;
  /** A short digest that cannot be forged. */
  digest(text: string): string;
}

/** A message with a command, as it came from the broker. */
export interface Arrival {
  /** Identifies the message when it is acknowledged. */
  readonly number: number;
  readonly name: string;
  readonly payload: string;
  readonly correlationData: Uint8Array | undefined;
  /** Sent to several devices. */
  readonly isFanOut: boolean;
  readonly isRetained: boolean;
  readonly isResent: boolean;
}

/** A command is fresh when its id is not in the ledger; then it passes through these stages, and gets its answer. */
export type Stage =
  /** It is being saved; then it is carried out. */
  | { readonly name: 'noted' }
  /** In a fan-out: it is carried out when it is saved and its turn has come. */
  | {
      readonly name: 'accepted';
      readonly isSaved: boolean;
      /** `undrawn`: the delay is not drawn yet. */
      readonly turn: 'undrawn' | { readonly at: number } | 'come';
      readonly bytes: number;
    }
  /** Its handler runs. */
  | { readonly name: 'acting'; readonly isAccepted: boolean }
  /** Its result is being saved; then it is answered. */
  | { readonly name: 'settled'; readonly answer: FinalAnswer };

/** A command without a final answer. */
export interface Command {
  readonly asker: Asker;
  readonly key: LedgerEntry['key'];
  readonly args: unknown;
  readonly notAfter: string | null;
  readonly isReadOnly: boolean;
  /** Arrivals that are not acknowledged: the broker must keep the command until it is saved or answered. */
  readonly arrivals: readonly number[];
  readonly stage: Stage;
}

export interface Commands {
  /** What the file holds, or will. */
  readonly ledger: CommandLedger;
  /** Answers of the last run that the broker may not have. */
  readonly owed: KeptRecord['owed'];
  readonly rate: CommandRate;
  /** Commands that got no answer in a flood; null: none since the last report. */
  readonly dropped: { readonly count: number; readonly reportAt: number } | null;
  /** Messages whose signature is being checked, by their number. */
  readonly checking: ReadonlyMap<number, { readonly arrival: Arrival; readonly id: string }>;
  /** Commands without a final answer, by id, oldest first. */
  readonly unfinished: ReadonlyMap<string, Command>;
  readonly answers: Answers;
  readonly isClosed: boolean;
}

export interface CommandFacts {
  /** Whether the owner has keys. */
  readonly hasKeys: boolean;
  /** Whether the file lists a command as unfinished, or may soon. */
  isListed(key: string): boolean;
}

type Seen = CommandFacts & Moment;

export type CommandEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'arrived'; readonly arrival: Arrival }
  /** The signature of a message is checked. */
  | { readonly type: 'opened'; readonly number: number; readonly opening: Opening }
  /** The delay of a command in a fan-out. */
  | { readonly type: 'delay_drawn'; readonly id: string; readonly ms: number }
  /** The note of a command is saved, or cannot be. */
  | { readonly type: 'noted'; readonly id: string; readonly isSaved: boolean }
  /** The handler of a command takes some time. */
  | { readonly type: 'began'; readonly id: string }
  /** The handler of a command has ended. */
  | { readonly type: 'done'; readonly id: string; readonly answer: FinalAnswer }
  /** The result of a command is saved, or cannot be. */
  | { readonly type: 'kept'; readonly id: string; readonly isSaved: boolean }
  /** The broker has a final answer, or it was dropped. */
  | {
      readonly type: 'ended';
      readonly id: string;
      readonly isDelivered: boolean;
      /** The command was refused, and is not in the ledger. */
      readonly isRefusal: boolean;
    }
  /** The disk delivered the record of the last run late. */
  | { readonly type: 'found'; readonly record: KeptRecord }
  /** The step with another event has thrown. */
  | { readonly type: 'broke'; readonly during: CommandEvent | Time | Failed<CommandEffect> }
  | { readonly type: 'close' };

export type CommandEffect =
  | AnswerEffect
  | { readonly type: 'open'; readonly number: number; readonly jws: string }
  | { readonly type: 'draw_delay'; readonly id: string; readonly spreadMs: number }
  | { readonly type: 'save_note'; readonly id: string; readonly key: string }
  | { readonly type: 'save_result'; readonly id: string }
  /** Saves the ledger soon. */
  | { readonly type: 'save' }
  | { readonly type: 'carry_out'; readonly id: string; readonly name: string; readonly args: unknown }
  | { readonly type: 'report_dropped'; readonly count: number }
  | {
      readonly type: 'log';
      readonly level: 'info' | 'warn';
      readonly kind: string;
      readonly fields: object;
      readonly sentence: string;
      readonly atOnce?: number;
    };

type Stepped = Step<Commands, CommandEffect>;
type EventOf<Type extends CommandEvent['type']> = Extract<CommandEvent, { readonly type: Type }>;

export function commandMachine(
  settings: CommandSettings,
  { ledger, owed }: KeptRecord,
): Machine<Commands, CommandEvent, CommandEffect, CommandFacts> {
  return {
    name: 'commands',
    begin: {
      ledger,
      owed,
      rate: UNUSED_RATE,
      dropped: null,
      checking: new Map(),
      unfinished: new Map(),
      answers: NO_ANSWERS,
      isClosed: false,
    },
    step: (state, event, seen) => step(state, event, seen, settings),
    wakeAt,
  };
}

/** Whether an operator may still be waiting for an answer that has not reached the broker. */
export function isAnswerAwaited({ answers }: Commands, now: number): boolean {
  return isAwaited(answers, now);
}

function wakeAt({ isClosed, dropped, answers, unfinished }: Commands): number | null {
  if (isClosed) return null;
  const turns = [...unfinished.values()].map(({ stage }) => turnAt(stage));
  const times = [dropped?.reportAt ?? null, awaitedUntil(answers), ...turns].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

function step(
  state: Commands,
  event: CommandEvent | Time | Failed<CommandEffect>,
  seen: Seen,
  settings: CommandSettings,
): Stepped {
  switch (event.type) {
    case 'begin':
      return giveOwed(state, seen);
    case 'arrived':
      return onArrived(state, event.arrival, seen, settings);
    case 'opened':
      return onOpened(state, event, seen, settings);
    case 'delay_drawn':
      return onDelay(state, event, seen);
    case 'noted':
      return onNoted(state, event, seen);
    case 'began':
      return onBegan(state, event);
    case 'done':
      return onDone(state, event, seen);
    case 'kept':
      return onKept(state, event, seen);
    case 'ended':
      return onEnded(state, event, settings);
    case 'found':
      return onFound(state, event.record);
    case 'time':
      return onTime(state, seen);
    case 'close':
      return close(state, seen);
    case 'failed':
      return onFailed(state, event.effect, seen, settings);
    case 'broke':
      return onBroke(state, event.during, seen);
  }
}

function giveOwed(state: Commands, seen: Seen): Stepped {
  const { owed } = state;
  const begun: Stepped = {
    state: { ...state, owed: [] },
    effects: owed.length > 0 ? [{ type: 'save' }] : [],
  };
  return owed.reduce((stepped, { id, name, answer }) => {
    const asker = { id, name, correlationData: undefined, isResent: false };
    return followedBy(stepped, (next) => give(next, { asker, answer, arrivals: [], share: 'answers' }, seen));
  }, begun);
}

/** Commands that arrive during the shutdown are left to the next start: the broker keeps them, unacknowledged. */
function onArrived(given: Commands, arrival: Arrival, seen: Seen, settings: CommandSettings): Stepped {
  if (given.isClosed) return stay(given);
  const { name, payload } = arrival;
  if (name.length > LONGEST_NAME) {
    const sentence = `a command with a name of more than ${LONGEST_NAME} characters was ignored`;
    return ignore(given, arrival, 'long_name', { name_length: name.length }, sentence);
  }
  const { rate, allowed } = countCommand(given.rate, seen.now);
  const state = { ...given, rate };
  if (allowed === 'drop') return drop(state, arrival, seen);
  const reading = readCommand(name, payload);
  const id = idOf(reading);
  if (id === null)
    return ignore(state, arrival, 'nameless', { command: name }, 'a command without a usable id was ignored');
  if (allowed === 'refuse') return refuse(state, arrival, id, BUSY, seen);
  const mustBeSigned = seen.hasKeys && settings.shapes.get(name)?.definition.mustBeSigned === true;
  const envelope = readCommandEnvelope(payload, mustBeSigned);
  switch (envelope.kind) {
    case 'refused':
      return refuse(state, arrival, id, envelope.fault, seen);
    case 'plain':
      return hear(state, arrival, id, reading, seen, settings);
    case 'signed':
      return checkSignature(state, arrival, id, envelope.jws, seen);
  }
}

function idOf(reading: CommandReading): string | null {
  if (reading.kind === 'nameless') return null;
  return reading.kind === 'request' ? reading.request.id : reading.id;
}

function drop({ dropped, ...rest }: Commands, arrival: Arrival, { now }: Seen): Stepped {
  const counted = {
    count: (dropped?.count ?? 0) + 1,
    reportAt: dropped?.reportAt ?? now + REPORT_DROPPED_MS,
  };
  const sentence = 'a command was dropped: too many came at once';
  return ignore({ ...rest, dropped: counted }, arrival, 'dropped', {}, sentence);
}

function ignore(
  state: Commands,
  { number }: Arrival,
  kind: string,
  fields: object,
  sentence: string,
): Stepped {
  const log: CommandEffect = { type: 'log', level: 'warn', kind: `command:${kind}`, fields, sentence };
  return { state, effects: [...acknowledge([number]), log] };
}

/** Answers and logs a refused command. It is not recorded, so it may be sent again. */
function refuse(state: Commands, arrival: Arrival, id: string, fault: CommandFault, seen: Seen): Stepped {
  const { code, message } = fault;
  const asker = askerOf(arrival, id);
  const answer: FinalAnswer = { status: 'error', error: { code, message } };
  // Refusals wait in the general queue, so that a flood of them cannot push the answers of real commands out.
  const given = give(state, { asker, answer, arrivals: [arrival.number], share: 'general' }, seen);
  const fields = { command: asker.name, code };
  const sentence = 'a command was refused';
  const log: CommandEffect = { type: 'log', level: 'warn', kind: `command:${code}`, fields, sentence };
  return { state: given.state, effects: [...given.effects, log] };
}

function askerOf({ name, correlationData, isResent }: Arrival, id: string): Asker {
  return { id, name, correlationData, isResent };
}

function give(
  state: Commands,
  answer: Parameters<typeof giveAnswer>[1],
  { now }: Pick<Seen, 'now'>,
): Stepped {
  const { answers, effects } = giveAnswer(state.answers, answer, state.isClosed ? null : now);
  return { state: { ...state, answers }, effects };
}

/** Without keys of the owner, the message is opened unverified, at once. */
function checkSignature(state: Commands, arrival: Arrival, id: string, jws: string, seen: Seen): Stepped {
  if (seen.hasKeys && state.checking.size >= MOST_CHECKS) {
    const message = 'too many signed commands at once: send it again later';
    return refuse(state, arrival, id, { code: 'busy', message }, seen);
  }
  const { number } = arrival;
  return {
    state: { ...state, checking: new Map(state.checking).set(number, { arrival, id }) },
    effects: [{ type: 'open', number, jws }],
  };
}

function onOpened(
  given: Commands,
  { number, opening }: EventOf<'opened'>,
  seen: Seen,
  settings: CommandSettings,
): Stepped {
  const { checked, state } = takeChecked(given, number);
  if (checked === undefined || state.isClosed) return stay(state);
  const { arrival, id } = checked;
  const { name } = arrival;
  const judged = judgeCommand(opening, { name, id, bases: settings.bases }, seen.hasKeys, seen.wall);
  if (!judged.ok) return refuse(state, arrival, id, judged.fault, seen);
  return hear(state, arrival, id, readCommand(name, judged.payload), seen, settings);
}

function takeChecked(state: Commands, number: number) {
  const checking = new Map(state.checking);
  checking.delete(number);
  return { checked: state.checking.get(number), state: { ...state, checking } };
}

/** Takes a command whose signature is valid, or not needed. */
function hear(
  state: Commands,
  arrival: Arrival,
  id: string,
  reading: CommandReading,
  seen: Seen,
  settings: CommandSettings,
): Stepped {
  if (reading.kind !== 'request') {
    const message = reading.kind === 'malformed' ? reading.message : 'the command has no id';
    return refuse(state, arrival, id, { code: 'malformed', message }, seen);
  }
  const key = settings.digest(id);
  const content = settings.digest(reading.content);
  const known = look(state.ledger, key, content);
  if (known === 'fresh')
    return takeFresh(state, { arrival, id, key, content, request: reading.request }, seen, settings);
  if (known === 'other_content') {
    const message = 'this id belongs to another command: use a new one for each';
    return refuse(state, arrival, id, { code: 'id_reused', message }, seen);
  }
  const unfinished = state.unfinished.get(id);
  if (unfinished !== undefined) return join(state, unfinished, arrival);
  if (known === 'open') return { state, effects: acknowledge([arrival.number]) };
  return repeatAnswer(state, arrival, { id, key, answer: known }, seen);
}

/** The answer to this command will come. The broker must keep the command as long as it would be forgotten by a restart. */
function join(state: Commands, command: Command, { number }: Arrival): Stepped {
  const { arrivals } = command;
  if (arrivals.length === 0) return { state, effects: acknowledge([number]) };
  return stay(put(state, { ...command, arrivals: [...arrivals, number] }));
}

/** The broker has sent the command again. The answer that it has, or will get, is the answer to the repetition, too. */
function repeatAnswer(
  state: Commands,
  arrival: Arrival,
  { id, key, answer }: { readonly id: string; readonly key: string; readonly answer: FinalAnswer },
  seen: Seen,
): Stepped {
  const { number, isResent } = arrival;
  const joined = isResent ? joinAnswer(state.answers, id, number) : null;
  if (joined !== null) return stay({ ...state, answers: joined });
  if (isResent && state.ledger.get(key)?.untold === null) return { state, effects: acknowledge([number]) };
  return give(state, { asker: askerOf(arrival, id), answer, arrivals: [number], share: 'answers' }, seen);
}

interface Fresh {
  readonly arrival: Arrival;
  readonly id: string;
  /** Digests of the id and the content. */
  readonly key: string;
  readonly content: string;
  readonly request: Extract<CommandReading, { kind: 'request' }>['request'];
}

function takeFresh(given: Commands, fresh: Fresh, seen: Seen, settings: CommandSettings): Stepped {
  const { arrival, id, key, request } = fresh;
  const { name, number } = arrival;
  const log: CommandEffect = {
    type: 'log',
    level: 'info',
    kind: 'command:received',
    fields: { command: name, id },
    sentence: 'command received',
    atOnce: LOGGED_A_MINUTE,
  };
  const state: Stepped = { state: given, effects: [log] };
  const checked = checkCommand(arrival, request.args, settings);
  if (!checked.ok) {
    const { code, message } = checked.fault;
    return followedBy(state, (next) =>
      answerAtOnce(next, fresh, { status: 'error', error: { code, message } }, seen),
    );
  }
  const { args, isReadOnly, spreadMs } = checked;
  const notAfter = request.not_after ?? null;
  if (isExpired(notAfter, seen.wall))
    return followedBy(state, (next) => answerAtOnce(next, fresh, { status: 'expired' }, seen));
  const asker = askerOf(arrival, id);
  const command = { asker, key, args, notAfter, isReadOnly, arrivals: [number] };
  if (spreadMs > 0) return followedBy(state, (next) => accept(next, fresh, command, spreadMs, seen));
  const noted: Command = { ...command, stage: { name: 'noted' } };
  if (isReadOnly) return followedBy(state, (next) => act(enter(next, noted, fresh, null, seen), noted, seen));
  return followedBy(state, (next) => ({
    state: enter(next, noted, fresh, asker, seen),
    effects: [{ type: 'save_note', id, key }],
  }));
}

type CheckedCommand =
  | { readonly ok: true; readonly args: unknown; readonly isReadOnly: boolean; readonly spreadMs: number }
  | { readonly ok: false; readonly fault: CommandFault };

function checkCommand(
  { name, isFanOut, isRetained }: Arrival,
  args: Record<string, unknown>,
  { shapes }: CommandSettings,
): CheckedCommand {
  if (isRetained) {
    const message = 'commands must not be retained: clear the topic';
    return { ok: false, fault: { code: 'retained', message } };
  }
  const spread = isFanOut ? takeSpread(args) : ({ ok: true, spreadMs: 0, own: args } as const);
  if (!spread.ok) return spread;
  const checked = checkArgs(shapes, name, spread.own);
  return checked.ok ? { ...checked, spreadMs: spread.spreadMs } : checked;
}

/** Enters a command. @param open the receiver of an answer after a restart; null: there is none, because it only reads */
function enter(
  state: Commands,
  command: Command,
  { content }: Fresh,
  open: Asker | null,
  { wall }: Seen,
): Commands {
  const addressee = open === null ? null : { id: open.id, name: open.name };
  const ledger = note(state.ledger, { key: command.key, content, open: addressee }, wall);
  return put({ ...state, ledger }, command);
}

function put(state: Commands, command: Command): Commands {
  return { ...state, unfinished: new Map(state.unfinished).set(command.asker.id, command) };
}

/** Nothing is carried out, so losing this record does no harm. */
function answerAtOnce(
  state: Commands,
  { arrival, id, key, content }: Fresh,
  answer: FinalAnswer,
  seen: Seen,
): Stepped {
  const ledger = settle(note(state.ledger, { key, content, open: null }, seen.wall), key, answer);
  const giving = {
    asker: askerOf(arrival, id),
    answer,
    arrivals: [arrival.number],
    share: 'answers',
  } as const;
  return give({ ...state, ledger }, giving, seen);
}

function accept(
  state: Commands,
  fresh: Fresh,
  command: Omit<Command, 'stage'>,
  spreadMs: number,
  seen: Seen,
): Stepped {
  const { arrival, id, key } = fresh;
  const { asker } = command;
  const bytes = arrival.payload.length + (arrival.correlationData?.byteLength ?? 0);
  if (!hasRoom(state, bytes)) {
    const message = 'too many commands are waiting already: send it again later';
    return refuse(state, arrival, id, { code: 'busy', message }, seen);
  }
  const stage: Stage = { name: 'accepted', isSaved: false, turn: 'undrawn', bytes };
  return {
    state: enter(state, { ...command, stage }, fresh, asker, seen),
    effects: [
      { type: 'publish', asker, answer: { status: 'accepted' }, share: 'answers' },
      { type: 'save_note', id, key },
      { type: 'draw_delay', id, spreadMs },
    ],
  };
}

function hasRoom({ unfinished }: Commands, bytes: number): boolean {
  const waiting = [...unfinished.values()].flatMap(({ stage }) =>
    stage.name === 'accepted' && stage.turn !== 'come' ? [stage.bytes] : [],
  );
  const total = waiting.reduce((sum, each) => sum + each, bytes);
  return waiting.length < MOST_WAITING && total <= MOST_WAITING_BYTES;
}

function onDelay(state: Commands, { id, ms }: EventOf<'delay_drawn'>, { now }: Seen): Stepped {
  const command = state.unfinished.get(id);
  if (command?.stage.name !== 'accepted' || command.stage.turn !== 'undrawn') return stay(state);
  return stay(put(state, { ...command, stage: { ...command.stage, turn: { at: now + ms } } }));
}

/** When the turn of a command comes; null: it does not wait for a turn. */
function turnAt(stage: Stage): number | null {
  return stage.name === 'accepted' && typeof stage.turn === 'object' ? stage.turn.at : null;
}

/** A command that cannot be saved is carried out all the same. */
function onNoted(given: Commands, { id }: EventOf<'noted'>, seen: Seen): Stepped {
  const before = given.unfinished.get(id);
  if (before === undefined) return stay(given);
  const { stage } = before;
  const command: Command = {
    ...before,
    arrivals: [],
    stage: stage.name === 'accepted' ? { ...stage, isSaved: true } : stage,
  };
  const acknowledged: Stepped = { state: put(given, command), effects: acknowledge(before.arrivals) };
  const mayAct = stage.name === 'noted' || (stage.name === 'accepted' && stage.turn === 'come');
  return mayAct ? followedBy(acknowledged, (next) => act(next, command, seen)) : acknowledged;
}

function onTime(given: Commands, seen: Seen): Stepped {
  const { dropped, answers } = given;
  const { now } = seen;
  const isReportDue = dropped !== null && now >= dropped.reportAt;
  const reported = isReportDue ? reportDropped(given) : stay<Commands, CommandEffect>(given);
  const waited = followedBy(reported, (state) => {
    const ended = endWait(answers, now);
    return { state: { ...state, answers: ended.answers }, effects: ended.effects };
  });
  return due(given, now).reduce(
    (stepped, command) => followedBy(stepped, (state) => onTurn(state, command, seen)),
    waited,
  );
}

/** Commands whose turn has come, in this order. */
function due({ unfinished }: Commands, now: number): readonly Command[] {
  const turns = [...unfinished.values()].map((command) => ({
    command,
    at: turnAt(command.stage) ?? Infinity,
  }));
  return turns
    .filter(({ at }) => at <= now)
    .sort((one, other) => one.at - other.at)
    .map(({ command }) => command);
}

function onTurn(state: Commands, command: Command, seen: Seen): Stepped {
  if (command.stage.name !== 'accepted') return stay(state);
  if (command.stage.isSaved) return act(state, command, seen);
  return stay(put(state, { ...command, stage: { ...command.stage, turn: 'come' } }));
}

function reportDropped(state: Commands): Stepped {
  const { dropped } = state;
  const effects: readonly CommandEffect[] =
    dropped === null ? [] : [{ type: 'report_dropped', count: dropped.count }];
  return { state: { ...state, dropped: null }, effects };
}

function act(state: Commands, command: Command, seen: Seen): Stepped {
  const { asker, notAfter, args, stage } = command;
  if (isExpired(notAfter, seen.wall)) return settleCommand(state, command, { status: 'expired' }, seen);
  const acting: Stage = { name: 'acting', isAccepted: stage.name === 'accepted' };
  return {
    state: put(state, { ...command, stage: acting }),
    effects: [{ type: 'carry_out', id: asker.id, name: asker.name, args }],
  };
}

function onBegan(state: Commands, { id }: EventOf<'began'>): Stepped {
  const command = state.unfinished.get(id);
  if (command?.stage.name !== 'acting' || command.stage.isAccepted) return stay(state);
  const { asker } = command;
  return {
    state: put(state, { ...command, stage: { name: 'acting', isAccepted: true } }),
    effects: [{ type: 'publish', asker, answer: { status: 'accepted' }, share: 'answers' }],
  };
}

function onDone(state: Commands, { id, answer }: EventOf<'done'>, seen: Seen): Stepped {
  const command = state.unfinished.get(id);
  if (command?.stage.name !== 'acting') return stay(state);
  return settleCommand(state, command, answer, seen);
}

/**
 * Answers a command; if the disk lists it as unfinished, only once its result is saved, so that no restart contradicts the
 * answer.
 * @param isUrgent false: the result is written with the next urgent change
 */
function settleCommand(
  given: Commands,
  command: Command,
  answer: FinalAnswer,
  seen: Seen,
  isUrgent = !command.isReadOnly,
): Stepped {
  const { key, asker } = command;
  const state = { ...given, ledger: settle(given.ledger, key, answer) };
  if (seen.isListed(key)) {
    return {
      state: put(state, { ...command, stage: { name: 'settled', answer } }),
      effects: [{ type: 'save_result', id: asker.id }],
    };
  }
  const saved: Stepped = { state, effects: isUrgent ? [{ type: 'save' }] : [] };
  return followedBy(saved, (next) => answerCommand(next, command, answer, seen));
}

function answerCommand(state: Commands, command: Command, answer: FinalAnswer, seen: Seen): Stepped {
  const { asker, arrivals } = command;
  const unfinished = new Map(state.unfinished);
  unfinished.delete(asker.id);
  return give({ ...state, unfinished }, { asker, answer, arrivals, share: 'answers' }, seen);
}

function onKept(state: Commands, { id, isSaved }: EventOf<'kept'>, seen: Seen): Stepped {
  const command = state.unfinished.get(id);
  if (command?.stage.name !== 'settled') return stay(state);
  const { answer } = command.stage;
  return answerCommand(state, command, isSaved ? answer : { ...answer, note: UNSAVED }, seen);
}

function onEnded(
  given: Commands,
  { id, isDelivered, isRefusal }: EventOf<'ended'>,
  { digest }: CommandSettings,
): Stepped {
  // A refusal is not the answer that the ledger holds for this id.
  const ledger = isDelivered && !isRefusal ? tell(given.ledger, digest(id)) : given.ledger;
  const { answers, effects } = endAnswer(given.answers, id);
  const saved: readonly CommandEffect[] = ledger === given.ledger ? [] : [{ type: 'save' }];
  return { state: { ...given, ledger, answers }, effects: [...saved, ...effects] };
}

/** Its unsent answers are given at the next start, or when a command comes again. */
function onFound(state: Commands, { ledger }: KeptRecord): Stepped {
  return {
    state: { ...state, ledger: new Map([...ledger, ...state.ledger]) },
    effects: [{ type: 'save' }],
  };
}

function close(given: Commands, seen: Seen): Stepped {
  const message = 'the agent stopped before the command was done';
  const answer: FinalAnswer = { status: 'error', error: { code: 'stopping', message } };
  const open = [...given.unfinished.values()].filter(({ stage }) => stage.name !== 'settled');
  const { state, effects } = open.reduce(
    (stepped, command) => followedBy(stepped, (next) => settleCommand(next, command, answer, seen, true)),
    reportDropped(given),
  );
  return { state: { ...state, isClosed: true }, effects };
}

function onFailed(state: Commands, effect: CommandEffect, seen: Seen, settings: CommandSettings): Stepped {
  switch (effect.type) {
    case 'carry_out':
    case 'draw_delay':
      return fail(state, effect.id, seen);
    case 'save_note':
      return onNoted(state, { type: 'noted', id: effect.id, isSaved: false }, seen);
    case 'save_result':
      return onKept(state, { type: 'kept', id: effect.id, isSaved: false }, seen);
    case 'open':
      return refuseChecked(state, effect.number, seen);
    case 'publish': {
      if (effect.answer.status === 'accepted') return stay(state);
      const ended = { type: 'ended', id: effect.asker.id, isDelivered: false, isRefusal: false } as const;
      return onEnded(state, ended, settings);
    }
    default:
      return stay(state);
  }
}

/** The step of an event has thrown and changed nothing. The command of the event is answered all the same. */
function onBroke(state: Commands, during: EventOf<'broke'>['during'], seen: Seen): Stepped {
  switch (during.type) {
    case 'arrived':
      return refuseBroken(state, during.arrival, seen);
    case 'opened':
      return refuseChecked(state, during.number, seen);
    case 'delay_drawn':
    case 'noted':
    case 'began':
    case 'done':
    case 'kept':
      return fail(state, during.id, seen);
    case 'time':
      return due(state, seen.now).reduce(
        (stepped, { asker }) => followedBy(stepped, (next) => fail(next, asker.id, seen)),
        stay<Commands, CommandEffect>(state),
      );
    case 'failed':
      return 'id' in during.effect ? fail(state, during.effect.id, seen) : stay(state);
    default:
      return stay(state);
  }
}

function refuseChecked(given: Commands, number: number, seen: Seen): Stepped {
  const { checked, state } = takeChecked(given, number);
  return checked === undefined ? stay(state) : refuse(state, checked.arrival, checked.id, INTERNAL, seen);
}

function refuseBroken(state: Commands, arrival: Arrival, seen: Seen): Stepped {
  const id = idOf(readCommand(arrival.name, arrival.payload));
  if (id === null) return { state, effects: acknowledge([arrival.number]) };
  return refuse(state, arrival, id, INTERNAL, seen);
}

/** Answers a command that cannot go on with an error. A command that already has a result keeps it. */
function fail(state: Commands, id: string, seen: Seen): Stepped {
  const command = state.unfinished.get(id);
  if (command === undefined) return stay(state);
  const { stage } = command;
  if (stage.name === 'settled') return answerCommand(state, command, stage.answer, seen);
  return settleCommand(state, command, internalError(), seen);
}

function internalError(): FinalAnswer {
  return { status: 'error', error: { code: INTERNAL.code, message: INTERNAL.message } };
}
