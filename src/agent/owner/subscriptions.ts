import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';

/** All that a device listens to. */
export function deviceSubscriptions(topics: DeviceTopics, groups: readonly string[]): string[] {
  return [topics.tokenResponse, topics.commands, topics.fleetCommands, ...groups.map(topics.groupCommands)];
}
