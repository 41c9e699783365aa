/** The console's subscriptions at the broker. Captions and tokens are not part of them. */
import type { Subscription } from '../../ports/bus.ts';
import { deviceIdSchema, deviceTopics, nameSchema } from '../../protocol/mqtt/topics.ts';

/** One message about a device or a group; `name` is `tenant/device` or `tenant/group`. */
export type DeviceNews =
  | {
      readonly kind: 'status' | 'state' | 'health' | 'reported' | 'desired';
      readonly name: string;
      readonly payload: string;
      readonly isRetained: boolean;
    }
  | {
      readonly kind: 'event';
      readonly event: string;
      readonly name: string;
      readonly payload: string;
      readonly isRetained: boolean;
    }
  | { readonly kind: 'group_desired'; readonly name: string; readonly payload: string };

export type ConsoleNews =
  | DeviceNews
  | { readonly kind: 'log'; readonly name: string; readonly payload: string }
  | { readonly kind: 'answer'; readonly name: string; readonly command: string; readonly payload: string };

/**
 * The console's subscriptions. The broker queues all retained messages of a subscription at once, and drops those beyond its limit:
 * a device could retain any number of events and answers. Therefore the console gets only four retained messages of each device.
 */
export function consoleFilters(prefix: string): Subscription[] {
  const any = deviceTopics({ prefix, tenant: '+', device: '+' });
  const kept = [any.status, any.configReported, any.configDesired, any.groupDesired('+')];
  const passing = [any.event('+'), any.commandResponse('+')];
  const periodic = [any.health, any.log];
  return [
    ...kept.map((filter) => ({ filter, qos: 1 as const, mayBeRefused: true })),
    ...passing.map((filter) => ({ filter, qos: 1 as const, mayBeRefused: true, isWithoutRetained: true })),
    // These come every second or minute: a lost message is soon replaced.
    { filter: any.state, qos: 0, mayBeRefused: true },
    ...periodic.map((filter) => ({
      filter,
      qos: 0 as const,
      mayBeRefused: true,
      isWithoutRetained: true,
    })),
  ];
}

const PLAIN: Readonly<Record<string, 'status' | 'state' | 'health' | 'reported' | 'desired'>> = {
  status: 'status',
  state: 'state',
  health: 'health',
  'config/reported': 'reported',
  'config/desired': 'desired',
};

/** Null: not a message for the console. */
export function readConsoleTopic(
  prefix: string,
  { topic, payload, retain }: { readonly topic: string; readonly payload: string; readonly retain: boolean },
): ConsoleNews | null {
  if (!topic.startsWith(`${prefix}/`)) return null;
  const [tenant = '', second = '', ...rest] = topic.slice(prefix.length + 1).split('/');
  if (!nameSchema.safeParse(tenant).success) return null;
  if (second === 'group') {
    const [group = '', ...end] = rest;
    const isDesired = end.join('/') === 'config/desired' && nameSchema.safeParse(group).success;
    return isDesired ? { kind: 'group_desired', name: `${tenant}/${group}`, payload } : null;
  }
  if (!deviceIdSchema.safeParse(second).success) return null;
  const name = `${tenant}/${second}`;
  const kind = PLAIN[rest.join('/')];
  if (kind !== undefined) return { kind, name, payload, isRetained: retain };
  const [noun, detail = '', ...end] = rest;
  if (noun === 'event' && end.length === 0)
    return { kind: 'event', event: detail, name, payload, isRetained: retain };
  if (noun === 'log' && rest.length === 1) return { kind: 'log', name, payload };
  if (noun === 'cmd' && end.length === 1 && end[0] === 'res')
    return { kind: 'answer', name, command: detail, payload };
  return null;
}
