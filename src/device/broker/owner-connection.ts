import type { RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Bus, BusMessage, OpenBus } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { DesiredConfig } from '../config/desired-config.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import type { Operator } from '../operator/operator.ts';
import type { Health } from '../status/health-reports.ts';
import type { Publisher } from '../status/publisher.ts';
import type { RunningTokens } from '../tokens/tokens.ts';
import { createLimitReport } from './broker-limits.ts';
import type { BrokerUpkeep } from './broker-upkeep.ts';
import { reportDown, reportLost, reportOversized, reportUnexpected, reportUp } from './bus-problems.ts';
import type { Presence } from './presence.ts';
import type { PublishRights } from './publish-rights.ts';
import { createRefusalReport } from './refused-subscriptions.ts';
import { keptSession } from './subscriptions.ts';

/** The parts of the agent that receive the broker's messages and events. */
export interface OwnerConnectionParts {
  readonly openBus: OpenBus;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  readonly topics: DeviceTopics;
  readonly groups: readonly string[];
  readonly lanes: readonly LaneRunner[];
  readonly tokens: RunningTokens;
  readonly desired: DesiredConfig;
  readonly health: Health;
  readonly brokerUpkeep: BrokerUpkeep;
  readonly operator: Operator;
  readonly presence: Presence;
  readonly publisher: Publisher;
  readonly publishRights: PublishRights;
  /** A connection is up. @param protocol its MQTT version */
  up(protocol: 4 | 5): void;
}

/** Opens the connection to the owner's broker. It reconnects by itself. */
export function openOwnerConnection(parts: OwnerConnectionParts): Bus {
  const { topics, lanes, tokens, presence, brokerUpkeep, publisher, desired } = parts;
  const setConnected = (isUp: boolean): void => {
    for (const lane of lanes) lane.post({ type: 'broker', up: isUp });
    tokens.connected(isUp);
  };
  const bus = parts.openBus(
    {
      ...keptSession(topics, parts.groups, desired.subscriptions),
      will: (connection) => ({ topic: topics.status, payload: publisher.will(connection) }),
    },
    {
      up: (connection, protocol) => {
        reportUp(parts, connection, protocol);
        parts.up(protocol);
        setConnected(true);
        presence.connected();
        brokerUpkeep.connected();
        publisher.connected(connection);
        desired.connected(bus);
        parts.health.connected();
      },
      down: (problem, message) => {
        reportDown(parts, problem, message);
        setConnected(false);
        brokerUpkeep.failed(problem);
        presence.down(problem);
      },
      limited: createLimitReport(parts),
      refused: createRefusalReport(parts),
      message: (message) => receive(parts, bus, message),
      oversized: (topic, bytes) => {
        reportOversized(parts, topic, bytes);
        presence.oversized(topic);
        desired.oversized(topic);
      },
      lost: (lost) => {
        reportLost(parts, lost);
        if (lost.why === 'refused') parts.publishRights.refused(lost.topic);
        if (lost.topic === topics.tokenRequest && lost.why === 'refused') tokens.refused();
        // A refused state is not published again at once: it would be refused again, each second.
        if (lost.topic !== topics.state || lost.why === 'full') publisher.refresh();
      },
    },
  );
  publisher.attach(bus);
  return bus;
}

/** The topic decides which part gets a message. */
function receive(parts: OwnerConnectionParts, bus: Bus, message: BusMessage): void {
  const { topics, tokens, presence, desired, operator } = parts;
  if (message.topic === topics.tokenResponse) tokens.receive(message.payload, message.retain);
  else if (!presence.receive(message) && !desired.receive(message) && !operator.receive(bus, message))
    reportUnexpected(parts, message.topic);
}
