/** Access rules at the broker, as topic filters. Both forms of its configuration are made from them. */
import type { CommandName } from '../../../protocol/mqtt/command.ts';
import {
  backendFilter,
  backendSelfTest,
  type DeviceAddress,
  deviceTopics,
  operatorTopics,
} from '../../../protocol/mqtt/topics.ts';

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

/** The lowest role that may send each command. The compiler requires an entry for each new command. */
export const COMMAND_ROLES: Readonly<Record<CommandName | 'say', Exclude<Role, 'viewer'>>> = {
  ...{ start: 'operator', stop: 'operator', mute: 'operator', unmute: 'operator' },
  ...{ languages: 'operator', volume: 'operator', echo: 'operator', voice: 'operator', say: 'operator' },
  ...{ identify: 'operator', status: 'operator', diagnose: 'operator' },
  ...{ log_level: 'operator', log_stream: 'operator', restart: 'operator' },
  ...{ reboot: 'administrator', certificate: 'administrator' },
};

/** A device reaches its own topics, and those of its groups and tenant. It may not publish its own commands or answers. */
export function deviceAccess(address: DeviceAddress, groups: readonly string[]): Access {
  const topics = deviceTopics(address);
  return {
    publish: [
      ...[topics.status, topics.state, topics.health, topics.event('+'), topics.caption, topics.log],
      ...[topics.configReported, topics.tokenRequest, topics.certificateRequest],
      topics.commandResponse('+'),
    ],
    receive: [
      ...[topics.tokenResponse, topics.configDesired, topics.commands, topics.fleetCommands],
      // It receives its own last will from the broker, to correct the status.
      topics.status,
      ...groups.flatMap((group) => [topics.groupCommands(group), topics.groupDesired(group)]),
    ],
    subscribe: [],
  };
}

export function backendAccess(prefix: string, shareGroup: string): Access {
  const own = backendSelfTest(prefix);
  return {
    publish: [deviceTopics({ prefix, tenant: '+', device: '+' }).tokenResponse, own.request],
    receive: [backendFilter(prefix, null), own.response],
    subscribe: [backendFilter(prefix, shareGroup)],
  };
}

/** People reach neither tokens, which are for backend and device only, nor captions. */
export function personAccess(role: Role, prefix: string, tenant: string): Access {
  const topics = operatorTopics(prefix, tenant);
  const any = deviceTopics({ prefix, tenant, device: '+' });
  const may = (least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);
  const commands = may('administrator')
    ? ['+']
    : Object.entries(COMMAND_ROLES).flatMap(([name, least]) => (may(least) ? [name] : []));
  return {
    publish: [
      ...commands.flatMap((name) => [topics.command('+', name), topics.command('group/+', name)]),
      ...(may('administrator') ? [any.configDesired, any.groupDesired('+')] : []),
    ],
    receive: [
      ...[any.status, any.state, any.health, any.event('+')],
      ...[any.configReported, any.configDesired, any.groupDesired('+')],
      ...(may('operator') ? [any.commandResponse('+'), any.log] : []),
      ...(may('administrator') ? [any.certificateRequest] : []),
    ],
    subscribe: [],
  };
}
