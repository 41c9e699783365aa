import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Config } from '../../protocol/config.ts';
import { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import type { DeviceAddress, DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Admissions } from '../admission/admissions.ts';
import type { GuardedDeps } from '../guard/guarded-deps.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import type { LaneRunner, LaneStep } from '../lane/lane-runner.ts';
import type { RepeatFilter } from '../repeat-filter.ts';
import { createCommandDispatcher } from './command-dispatcher.ts';
import { createCommandRecord } from './command-record.ts';
import { createCommandSignatures } from './command-signature.ts';
import { bindCommands, type CommandHandlers } from './command-table.ts';
import { createDeviceHandlers } from './device-handlers.ts';
import { createLaneHandlers } from './lane-handlers.ts';
import { createLogStream } from './log-stream.ts';
import { createSayQueue } from './say-queue.ts';

export interface OperatorDeps {
  readonly deps: GuardedDeps;
  readonly address: DeviceAddress;
  readonly topics: DeviceTopics;
  readonly repeats: RepeatFilter;
  readonly lanes: readonly LaneRunner[];
  readonly admissions: Admissions;
  config(): Config;
  bus(): Bus | null;
  watch(listener: (step: LaneStep) => void): () => void;
  /** Told whenever `isAwaited` may have changed. */
  awaitedChanged(): void;
  readonly status: () => unknown;
  readonly diagnose: CommandHandlers['diagnose'];
  readonly certificate: CommandHandlers['certificate'];
  /** Commands cannot be remembered over a restart, and why; null: they can again. */
  kept(problem: string | null): void;
}

/** All that operators' commands need: who may send them, what they do, and what is remembered of them. */
export interface Operator {
  /** Gives the answers that are owed since the last time. */
  begin(bus: Bus): void;
  /** False when the topic is no command's. */
  receive(bus: Bus, message: BusMessage): boolean;
  trust(signatures: SignedContentReader | null): void;
  /** Another level of the log is configured or desired. */
  levelChanged(): void;
  /** Resolves when every command has its answer. */
  close(): Promise<void>;
  /** An answer waits for the broker, and somebody for the answer. */
  readonly isAwaited: boolean;
  /** Resolves when it is noted which of the last answers have arrived. */
  saved(): Promise<void>;
}

export function createOperator(parts: OperatorDeps): Operator {
  const { deps, address, topics, repeats, lanes, config, bus, watch } = parts;
  const { clock, log } = deps;
  const { groups } = config().device;
  const logs = createLogStream({
    ...{ topics, clock, bus },
    tapLog: (level, listener) => deps.tapLog?.(level, listener) ?? (() => {}),
  });
  const device = createDeviceHandlers({
    ...{ clock, lanes, logs, host: deps.host ?? null },
    configuredLevel: () => config().log.level,
    setLogLevel: (level) => deps.setLogLevel?.(level),
  });
  const says = createSayQueue({ clock, lanes, watch });
  const { admissions, status, diagnose, certificate } = parts;
  const table = bindCommands(COMMANDS, {
    ...createLaneHandlers({ lanes, admissions, says, clock, watch }),
    ...{ ...device, status, diagnose, certificate },
  });
  const signatures = createCommandSignatures(
    [topics.base, topics.fleetBase, ...groups.map(topics.groupBase)],
    clock,
    deps.signatures,
    (name) => table.get(name)?.definition.mustBeSigned === true,
  );
  const record = createCommandRecord(deps.commandFile ?? null, clock, log, parts.kept);
  const dispatcher = createCommandDispatcher(
    {
      ...{ address, groups, topics, clock, log, random: deps.random, repeats, record, signatures },
      awaitedChanged: parts.awaitedChanged,
    },
    table,
  );
  return {
    begin: (bus) => dispatcher.begin(bus),
    receive: (bus, message) => dispatcher.receive(bus, message),
    trust: (next) => signatures.trust(next),
    levelChanged: () => device.levelChanged(),
    close() {
      device.close();
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
