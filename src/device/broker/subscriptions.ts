import type { Subscription } from '../../ports/bus.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';

/** How long the broker keeps commands for a device that is away (s, MQTT 5). It never keeps tokens. */
export const SESSION_KEPT_S = 600;

/** All subscriptions of a device. */
export function deviceSubscriptions(topics: DeviceTopics, groups: readonly string[]): string[] {
  return [topics.tokenResponse, topics.commands, topics.fleetCommands, ...groups.map(topics.groupCommands)];
}

/**
 * The subscriptions of a running agent, with its own status and `more`. If the broker refuses some, the others still
 * work. Tokens come with QoS 0 even if the backend sends them with more, so that the broker keeps none.
 */
export function keptSession(
  topics: DeviceTopics,
  groups: readonly string[],
  more: readonly string[] = [],
): { readonly subscriptions: readonly Subscription[]; readonly keptForS: number } {
  const fleeting = [topics.tokenResponse, topics.status];
  const filters = [...deviceSubscriptions(topics, groups), ...more, topics.status];
  const subscriptions = filters.map((filter): Subscription => {
    return { filter, mayBeRefused: true, qos: fleeting.includes(filter) ? 0 : 1 };
  });
  return { subscriptions, keptForS: SESSION_KEPT_S };
}
