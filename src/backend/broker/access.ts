/** Who may do what at the broker, as topic filters. Both forms of a broker's configuration are generated from this table. */
import type { CommandDefinitions } from '../../protocol/mqtt/commands/command-definition.ts';
import { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import {
  backendFilter,
  backendSelfTest,
  type DeviceAddress,
  deviceTopics,
  fleetFilters,
  operatorTopics,
  REPORT_KINDS,
  reportFilter,
} from '../../protocol/mqtt/topics.ts';

/** Roles of people, from least to most rights. Each role includes the rights of those before it. */
export const ROLES = ['viewer', 'operator', 'administrator'] as const;
export type Role = (typeof ROLES)[number];

/** Topic filters. Topics in none of the lists are refused. */
export interface Access {
  readonly publish: readonly string[];
  /** Topics that may be subscribed and received. */
  readonly receive: readonly string[];
  /** Further filters that may be subscribed. They deliver only topics of `receive`. */
  readonly subscribe: readonly string[];
}

/** A device's own topics, and those of its groups and tenant. It may not send itself commands or token responses. */
export function deviceAccess(address: DeviceAddress, groups: readonly string[]): Access {
  const topics = deviceTopics(address);
  return {
    publish: [
      topics.status,
      topics.state,
      topics.health,
      topics.event('+'),
      topics.caption,
      topics.log,
      topics.configReported,
      topics.tokenRequest,
      topics.certificateRequest,
      topics.commandResponse('+'),
    ],
    receive: [
      topics.tokenResponse,
      topics.configDesired,
      topics.commands,
      topics.fleetCommands,
      // The device receives its own last will, so that it can correct the status.
      topics.status,
      ...groups.flatMap((group) => [topics.groupCommands(group), topics.groupDesired(group)]),
    ],
    subscribe: [],
  };
}

/** Tokens; for the owner's console also commands, configuration, and all that devices publish except captions. */
export function backendAccess(prefix: string, shareGroup: string): Access {
  const own = backendSelfTest(prefix);
  const any = deviceTopics({ prefix, tenant: '+', device: '+' });
  return {
    publish: [any.tokenResponse, own.request, any.command('+'), any.configDesired, any.groupDesired('+')],
    receive: [
      backendFilter(prefix, null),
      own.response,
      ...REPORT_KINDS.map((kind) => reportFilter(prefix, kind, null)),
      ...Object.values(fleetFilters(prefix)),
      any.event('+'),
      any.log,
      any.commandResponse('+'),
      any.configReported,
      any.configDesired,
      any.groupDesired('+'),
    ],
    subscribe: [
      backendFilter(prefix, shareGroup),
      ...REPORT_KINDS.map((kind) => reportFilter(prefix, kind, shareGroup)),
    ],
  };
}

/** Only the backend and the device itself may access tokens, and no person may read captions. */
export function personAccess(
  role: Role,
  prefix: string,
  tenant: string,
  definitions: CommandDefinitions = COMMANDS,
): Access {
  const topics = operatorTopics(prefix, tenant);
  const any = deviceTopics({ prefix, tenant, device: '+' });
  const may = (least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);
  const commands = may('administrator')
    ? ['+']
    : Object.entries(definitions).flatMap(([name, { role: least }]) => (may(least) ? [name] : []));
  return {
    publish: [
      ...commands.flatMap((name) => [topics.command('+', name), topics.command('group/+', name)]),
      ...(may('administrator') ? [any.configDesired, any.groupDesired('+')] : []),
    ],
    receive: [
      any.status,
      any.state,
      any.health,
      any.event('+'),
      any.configReported,
      any.configDesired,
      any.groupDesired('+'),
      ...(may('operator') ? [any.commandResponse('+'), any.log] : []),
      ...(may('administrator') ? [any.certificateRequest] : []),
    ],
    subscribe: [],
  };
}
