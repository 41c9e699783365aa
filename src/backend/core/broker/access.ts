/** Who may do what at the broker, as topic filters. Both forms of a broker's configuration are made of it. */
import type { CommandName } from '../../../protocol/mqtt/command.ts';
import {
  backendFilter,
  backendSelfTest,
  type DeviceAddress,
  deviceTopics,
  operatorTopics,
} from '../../../protocol/mqtt/topics.ts';

/** Of people, from least to most: each may do what those before it may. */
export const ROLES = ['viewer', 'operator', 'administrator'] as const;
export type Role = (typeof ROLES)[number];

/** Topic filters. What is in neither list is refused. */
export interface Access {
  readonly publish: readonly string[];
  /** What may be received, and subscribed. */
  readonly receive: readonly string[];
  /** What may be subscribed beside `receive`; it brings nothing that is not in `receive`. */
  readonly subscribe: readonly string[];
}

/** From which role on a command may be sent; the compiler asks for each new one. */
export const COMMAND_ROLES: Readonly<Record<CommandName | 'say', Exclude<Role, 'viewer'>>> = {
  ...{ start: 'operator', stop: 'operator', mute: 'operator', unmute: 'operator' },
  ...{ languages: 'operator', volume: 'operator', echo: 'operator', voice: 'operator', say: 'operator' },
  ...{ identify: 'operator', status: 'operator', diagnose: 'operator' },
  ...{ log_level: 'operator', log_stream: 'operator', restart: 'operator' },
  ...{ reboot: 'administrator', certificate: 'administrator' },
};

/** Its own topics in their directions, its groups' and its tenant's; it may not tell itself what to do, nor answer itself. */
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
      // It hears what the broker tells of it, to put that right.
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

/** Nobody but the backend and the device itself comes near tokens, and nobody at all reads captions. */
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
