import type { BusOptions, Subscription } from '../../ports/bus.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';

/** How long the broker keeps what is sent to a device that is away (MQTT 5): commands, never tokens. */
const SESSION_KEPT_S = 600;

/** All that a device listens to. */
export function deviceSubscriptions(topics: DeviceTopics, groups: readonly string[]): string[] {
  return [topics.tokenResponse, topics.commands, topics.fleetCommands, ...groups.map(topics.groupCommands)];
}

/**
 * The same as a running agent subscribes it, with its own status and `more`. Whatever is refused, the rest is of use, if only
 * to tell the owner. Tokens come with QoS 0 even if a backend sends them with more, so that none is kept by the broker.
 */
export function keptSession(
  topics: DeviceTopics,
  groups: readonly string[],
  more: readonly string[] = [],
): Pick<BusOptions, 'subscriptions' | 'keptForS'> {
  const fleeting = [topics.tokenResponse, topics.status];
  const filters = [...deviceSubscriptions(topics, groups), ...more, topics.status];
  const subscriptions = filters.map((filter): Subscription => {
    return { filter, mayBeRefused: true, qos: fleeting.includes(filter) ? 0 : 1 };
  });
  return { subscriptions, keptForS: SESSION_KEPT_S };
}
