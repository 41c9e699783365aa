import type { RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Config } from '../../protocol/config.ts';
import { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import type { EventKind } from '../../protocol/mqtt/event.ts';
import type { DeviceAddress, DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { createCommandDispatcher } from '../commands/command-dispatcher.ts';
import { bindCommands, type CommandHandlers } from '../commands/command-table.ts';
import { commandsByHand } from '../desk/by-hand.ts';
import { createConversations } from '../desk/conversations.ts';
import { type DeskKeys, openDeskKeys } from '../desk/desk-keys.ts';
import type { GuardedDeps } from '../guard/guarded-deps.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { desksOf } from '../lane/runner/rooms.ts';
import type { Admissions } from '../limits/admissions.ts';
import { createTextSpeaker } from '../say/text-speaker.ts';
import { createDeskHandlers } from './desk-handlers.ts';
import { createDeviceHandlers } from './device-handlers.ts';
import { createLaneHandlers, handlersAtDesk } from './lane-handlers.ts';
import { createLogStream } from './log-stream.ts';

export interface OperatorDeps {
  readonly deps: GuardedDeps;
  readonly runner: Runner;
  readonly address: DeviceAddress;
  readonly topics: DeviceTopics;
  readonly repeats: RepeatFilter;
  readonly lanes: readonly LaneRunner[];
  readonly admissions: Admissions;
  config(): Config;
  bus(): Bus | null;
  watch(listener: (step: LaneStep) => void): () => void;
  /** Called whenever `isAwaited` may have changed. */
  awaitedChanged(): void;
  tell(kind: EventKind, detail: Readonly<Record<string, unknown>>): void;
  readonly status: () => unknown;
  readonly diagnose: CommandHandlers['diagnose'];
  readonly certificate: CommandHandlers['certificate'];
  readonly updates: Pick<CommandHandlers, 'update' | 'rollback'>;
  /** Called with the number of commands that got no answer in a flood. */
  dropped(commands: number): void;
  /** Called with a reason when commands cannot be saved, and with null once they can be saved again. */
  kept(problem: string | null): void;
  /** Called with the unreadable devices of `keys` when they change. */
  missingKeys(devices: readonly string[]): void;
}

/** All parts of the operators' commands: signatures, handlers, record and answers. */
export interface Operator {
  /** Sends the answers owed from the last run, and listens to the keys. */
  begin(bus: Bus): void;
  /** False if the topic is not a command's. */
  receive(bus: Bus, message: BusMessage): boolean;
  /** Carries out a command of a visitor at the kiosk's own screen. @throws CommandError, at once or later */
  carryOut(name: string, args: object): unknown;
  trust(signatures: SignedContentReader | null): void;
  /** A lane was added or removed. */
  lanesChanged(): void;
  /** The configured or desired log level has changed. */
  levelChanged(): void;
  /** Resolves when every command has its answer. */
  close(): Promise<void>;
  /** Whether an operator may still be waiting for an answer that has not reached the broker. */
  readonly isAwaited: boolean;
  /** Resolves when the file records which answers have arrived. */
  saved(): Promise<void>;
}

export function createOperator(parts: OperatorDeps): Operator {
  const { deps, runner, address, topics, repeats, lanes, config, bus, watch } = parts;
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
    configuredLevel: () => config().log.level,
    setLogLevel: (level) => deps.setLogLevel?.(level),
  });
  const says = createTextSpeaker({ runner, lanes, watch });
  const desks = () => desksOf(lanes, config().rooms);
  const conversations = createConversations({ clock, says, config, watch, tell: parts.tell, desks });
  const offerOf = (id: string): readonly string[] =>
    config().lanes.find((lane) => lane.id === id)?.offer ?? [];
  const { admissions, status, diagnose, certificate } = parts;
  const handlers: CommandHandlers = {
    ...createLaneHandlers({ lanes, desks, admissions, says, conversations, offerOf, clock, watch }),
    ...createDeskHandlers(lanes),
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
      kept: parts.kept,
      signatures: deps.signatures,
      awaitedChanged: parts.awaitedChanged,
      dropped: parts.dropped,
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
      missing: parts.missingKeys,
    });
  };
  let keys: DeskKeys | null = null;
  return {
    begin(bus) {
      dispatcher.begin(bus);
      keys = openKeys();
    },
    receive: (bus, message) => dispatcher.receive(bus, message),
    carryOut: commandsByHand('touch', tableAtDesk, lanes, conversations),
    trust: (next) => dispatcher.trust(next),
    lanesChanged() {
      conversations.lanesChanged();
      says.lanesChanged();
    },
    levelChanged: () => device.levelChanged(),
    close() {
      device.close();
      keys?.close();
      conversations.close();
      says.close();
      logs.close();
      return dispatcher.close();
    },
    get isAwaited() {
      return dispatcher.isAwaited;
    },
    saved: () => dispatcher.saved(),
  };
}
