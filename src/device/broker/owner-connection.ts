import type { RepeatFilter } from '../../machine/repeat-filter.ts';
import { insist } from '../../machine/within.ts';
import type { Bus, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Features } from '../features/features.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import type { Publisher } from '../status/publisher.ts';
import { createLimitReport } from './broker-limits.ts';
import { reportDown, reportLost, reportOversized, reportUnexpected, reportUp } from './bus-problems.ts';
import { createRefusalReport } from './refused-subscriptions.ts';
import { keptSession } from './subscriptions.ts';

export interface OwnerConnectionDeps {
  readonly openBus: OpenBus;
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  readonly topics: DeviceTopics;
  readonly groups: readonly string[];
  readonly lanes: readonly LaneRunner[];
  readonly publisher: Publisher;
  readonly features: Features;
}

/** The connection to the owner's broker. It reconnects by itself. */
export interface OwnerConnection {
  /** Null until it is opened. */
  bus(): Bus | null;
  /** MQTT version of the current connection. */
  protocol(): 4 | 5;
  open(): Bus;
  /** The needs of the features may have changed: a lost connection that one of them needs is retried within seconds. */
  judgeUrgency(): void;
  /** An obstacle is gone: retries within seconds. */
  hasten(): void;
  /** Publishes `offline` as the last message. */
  close(): Promise<void>;
}

export function createOwnerConnection(deps: OwnerConnectionDeps): OwnerConnection {
  const { topics, publisher, features } = deps;
  let bus: Bus | null = null;
  let version: 4 | 5 = 5;
  const judgeUrgency = (): void => bus?.urgent(features.needsBroker);
  return {
    bus: () => bus,
    protocol: () => version,
    open() {
      const opened = openBus(deps, (protocol) => {
        version = protocol;
      });
      bus = opened;
      publisher.attach(opened);
      return opened;
    },
    judgeUrgency,
    hasten() {
      bus?.urgent(true);
      judgeUrgency();
    },
    async close() {
      const finale = { topic: topics.status, payload: publisher.offlineStatus(), retain: true };
      await insist(deps, 'bus', Promise.resolve(bus?.close(finale)));
    },
  };
}

/** @param up a connection is up; `protocol` is its MQTT version */
function openBus(deps: OwnerConnectionDeps, up: (protocol: 4 | 5) => void): Bus {
  const { topics, lanes, publisher, features } = deps;
  // Before the features: the first status of a connection already describes the lanes with it.
  const tellLanes = (up: boolean): void => {
    for (const lane of lanes) lane.post({ type: 'broker', up });
  };
  const bus = deps.openBus(
    {
      ...keptSession(topics, deps.groups, features.subscriptions),
      will: (connection) => ({ topic: topics.status, payload: publisher.will(connection) }),
    },
    {
      up(number, protocol) {
        reportUp(deps, number, protocol);
        up(protocol);
        tellLanes(true);
        features.connected({ bus, number, protocol });
      },
      down(problem, message) {
        reportDown(deps, problem, message);
        tellLanes(false);
        features.disconnected(problem);
      },
      limited: createLimitReport(deps),
      refused: createRefusalReport(deps),
      message(message) {
        if (!features.receive(message, bus)) reportUnexpected(deps, message.topic);
      },
      oversized(topic, bytes) {
        reportOversized(deps, topic, bytes);
        features.oversized(topic);
      },
      lost(message) {
        reportLost(deps, message);
        features.lost(message);
      },
    },
  );
  return bus;
}
