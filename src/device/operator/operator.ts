import type { RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Config } from '../../protocol/config.ts';
import { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import type { DeviceAddress, DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { createCommandDispatcher } from '../commands/command-dispatcher.ts';
import { bindCommands, type CommandHandlers } from '../commands/command-table.ts';
import { commandsByHand } from '../desk/by-hand.ts';
import { type Conversations, createConversations } from '../desk/conversations.ts';
import { type DeskKeys, openDeskKeys } from '../desk/desk-keys.ts';
import type { GuardedDeps } from '../guard/guarded-deps.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import { createHelp, type Help } from '../help/help.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { desksOf } from '../lane/runner/rooms.ts';
import type { Admissions } from '../limits/admissions.ts';
import { createTextSpeaker } from '../say/text-speaker.ts';
import type { Publisher } from '../status/publisher.ts';
import type { Troubles } from '../status/troubles.ts';
import { createDeskHandlers } from './desk-handlers.ts';
import { createDeviceHandlers } from './device-handlers.ts';
import { createLaneHandlers, handlersAtDesk } from './lane-handlers.ts';
import type { LogLevel } from './log-level.ts';
import { createLogStream } from './log-stream.ts';

export interface OperatorDeps {
  readonly deps: GuardedDeps;
  readonly runner: Runner;
  readonly address: DeviceAddress;
  readonly topics: DeviceTopics;
  readonly repeats: RepeatFilter;
  readonly lanes: readonly LaneRunner[];
  readonly admissions: Admissions;
  readonly publisher: Pick<Publisher, 'condition' | 'tell' | 'deliver' | 'refresh'>;
  readonly troubles: Pick<Troubles, 'kept'>;
  readonly logLevel: LogLevel;
  config(): Config;
  bus(): Bus | null;
  watch(listener: (step: LaneStep) => void): () => void;
  /** Called whenever `needsBroker` may have changed. */
  awaitedChanged(): void;
  readonly status: () => unknown;
  readonly diagnose: CommandHandlers['diagnose'];
  readonly certificate: CommandHandlers['certificate'];
  readonly updates: Pick<CommandHandlers, 'update' | 'rollback'>;
  readonly menu: CommandHandlers['menu'];
}

/** All parts of the operators' commands: signatures, handlers, record and answers. */
export interface Operator {
  readonly help: Help;
  /** Sends the answers owed from the last run, and listens to the keys. */
  begin(bus: Bus): void;
  /** False if the topic is not a command's. */
  receive(message: BusMessage, bus: Bus): boolean;
  /** Carries out a command of a visitor at the kiosk's own screen. @throws CommandError, at once or later */
  carryOut(name: string, args: object): unknown;
  trust(signatures: SignedContentReader | null): void;
  /** A lane was added or removed. */
  lanesChanged(): void;
  /** Resolves when every command has its answer. */
  close(): Promise<void>;
  /** An operator may still be waiting for an answer that has not reached the broker. */
  readonly needsBroker: boolean;
  /** Resolves when the file records which answers have arrived. */
  saved(): Promise<void>;
}

export function createOperator(parts: OperatorDeps): Operator {
  const { deps, runner, address, topics, repeats, lanes, config, bus, watch, publisher, troubles } = parts;
  const tell: Publisher['tell'] = (kind, detail) => publisher.tell(kind, detail);
  const { clock, log } = deps;
  const logs = createLogStream({
    topics,
    clock,
    bus,
    tapLog: (level, listener) => deps.tapLog?.(level, listener) ?? (() => {}),
  });
  const device = createDeviceHandlers({
    clock,
    lanes,
    logs,
    host: deps.host ?? null,
    logLevel: parts.logLevel,
  });
  const says = createTextSpeaker({ runner, lanes, watch });
  const desks = () => desksOf(lanes, config().rooms);
  const help = createHelp({
    clock,
    answerWithinS: () => config().help.answerWithin,
    isConnected: () => bus()?.connected === true,
    deliver: (...about) => publisher.deliver(...about),
    changed: () => publisher.refresh(),
  });
  const conversations = createConversations({ clock, says, config, watch, tell, desks });
  const offerOf = (id: string): readonly string[] =>
    config().lanes.find((lane) => lane.id === id)?.offer ?? [];
  const conversationsByHand: Pick<Conversations, 'begin' | 'end'> = {
    begin: conversations.begin,
    end(ended) {
      conversations.end(ended);
      const left = desks().filter((desk) => desk.some((lane) => ended.includes(lane)));
      help.leave(left.flat().map(({ id }) => id));
    },
  };
  const { admissions, status, diagnose, certificate } = parts;
  const handlers: CommandHandlers = {
    ...createLaneHandlers({
      lanes,
      desks,
      admissions,
      says,
      conversations: conversationsByHand,
      offerOf,
      clock,
      watch,
    }),
    ...createDeskHandlers(lanes, help, parts.menu),
    ...device,
    ...parts.updates,
    status,
    diagnose,
    certificate,
  };
  const table = bindCommands(COMMANDS, handlers);
  const tableAtDesk = bindCommands(COMMANDS, { ...handlers, ...handlersAtDesk({ lanes, says }) });
  const dispatcher = createCommandDispatcher(
    {
      address,
      groups: config().device.groups,
      clock,
      log,
      random: deps.random,
      repeats,
      runner: parts.runner.apart(),
      file: deps.commandFile ?? null,
      kept: troubles.kept('commands'),
      signatures: deps.signatures,
      awaitedChanged: parts.awaitedChanged,
      dropped: (commands) => publisher.tell('commands_dropped', { lane: null, commands }),
    },
    table,
  );
  const openKeys = (): DeskKeys | null => {
    const { openKeyDevice } = deps;
    if (openKeyDevice === undefined) return null;
    return openDeskKeys({
      clock,
      log,
      repeats,
      openKeyDevice,
      carryOut: commandsByHand('key', tableAtDesk, lanes, conversations),
      keys: config().keys,
      missing: (devices) => publisher.condition('keys', devices.length > 0, devices),
    });
  };
  let keys: DeskKeys | null = null;
  return {
    help,
    begin(bus) {
      dispatcher.begin(bus);
      keys = openKeys();
    },
    receive: (message, bus) => dispatcher.receive(bus, message),
    carryOut: commandsByHand('touch', tableAtDesk, lanes, conversations),
    trust: (next) => dispatcher.trust(next),
    lanesChanged() {
      conversations.lanesChanged();
      says.lanesChanged();
    },
    close() {
      device.close();
      keys?.close();
      help.close();
      conversations.close();
      says.close();
      logs.close();
      return dispatcher.close();
    },
    get needsBroker() {
      return dispatcher.isAwaited;
    },
    saved: () => dispatcher.saved(),
  };
}
