import type { Subscription } from '../../ports/bus.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';

/** So long the broker keeps what is sent to a device that is away (MQTT 5): commands, never tokens. */
export const SESSION_KEPT_S = 600;

/** All that a device listens to. */
export function deviceSubscriptions(topics: DeviceTopics, groups: readonly string[]): string[] {
  return [topics.tokenResponse, topics.commands, topics.fleetCommands, ...groups.map(topics.groupCommands)];
}

/**
 * The same as a running agent subscribes it. Whatever is refused, the rest is of use, if only to tell the owner. Tokens
 * come with QoS 0 even if a backend sends them with more, so that none is kept by the broker.
 */
export function agentSubscriptions(topics: DeviceTopics, filters: readonly string[]): Subscription[] {
  return filters.map((filter) => ({
    ...{ filter, mayBeRefused: true },
    qos: filter === topics.tokenResponse ? 0 : 1,
  }));
}
