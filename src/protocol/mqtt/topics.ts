import * as z from 'zod';
import { isPlain, PLAIN } from '../common/plain-text.ts';

/** Name of a tenant, a device or a lane; one level of a topic. */
export const nameSchema = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 of the characters a-z, 0-9 and "-"');

/** Names that no device may have, because other topics use these levels. */
export const RESERVED_DEVICES: ReadonlySet<string> = new Set(['all', 'group', 'backend', 'claim']);
export const deviceIdSchema = nameSchema.refine(
  (name) => !RESERVED_DEVICES.has(name),
  `must not be ${[...RESERVED_DEVICES].join(', ')}: the name is reserved`,
);

/** The first levels of every topic, such as `dragoman/v1`. */
export const prefixSchema = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^#+$/][^#+/]*(\/[^#+/]+)*$/, 'must be MQTT topic levels without "+", "#" or an empty level')
  .refine(isPlain, PLAIN);

/** Identity of a device on the broker. */
export interface DeviceAddress {
  readonly prefix: string;
  readonly tenant: string;
  readonly device: string;
}

/** The topics of one device (docs/mqtt.md); `{p}` is `{prefix}/{tenant}/{device}`. */
export interface DeviceTopics {
  readonly base: string;
  readonly status: string;
  readonly state: string;
  readonly health: string;
  readonly caption: string;
  readonly log: string;
  readonly tokenRequest: string;
  readonly tokenResponse: string;
  readonly certificateRequest: string;
  readonly configDesired: string;
  readonly configReported: string;
  /** Filter for commands to this device. */
  readonly commands: string;
  /** Filter for commands to all devices of the tenant. */
  readonly fleetCommands: string;
  /** Topic base that a signed command to the whole fleet must name. */
  readonly fleetBase: string;
  /** Filter for commands to the devices of a group. */
  groupCommands(group: string): string;
  /** Topic base that a signed message to a group must name. */
  groupBase(group: string): string;
  groupDesired(group: string): string;
  event(kind: string): string;
  command(name: string): string;
  commandResponse(name: string): string;
}

export function deviceTopics(address: DeviceAddress): DeviceTopics {
  const tenant = `${address.prefix}/${address.tenant}`;
  const base = `${tenant}/${address.device}`;
  return {
    base,
    status: `${base}/status`,
    state: `${base}/state`,
    health: `${base}/health`,
    caption: `${base}/caption`,
    log: `${base}/log`,
    tokenRequest: `${base}/token/req`,
    tokenResponse: `${base}/token/res`,
    certificateRequest: `${base}/cert/req`,
    configDesired: `${base}/config/desired`,
    configReported: `${base}/config/reported`,
    commands: `${base}/cmd/+`,
    fleetCommands: `${tenant}/all/cmd/+`,
    fleetBase: `${tenant}/all`,
    groupCommands: (group) => `${tenant}/group/${group}/cmd/+`,
    groupBase: (group) => `${tenant}/group/${group}`,
    groupDesired: (group) => `${tenant}/group/${group}/config/desired`,
    event: (kind) => `${base}/event/${kind}`,
    command: (name) => `${base}/cmd/${name}`,
    commandResponse: (name) => `${base}/cmd/${name}/res`,
  };
}

/** Client identifier of a device: unique per broker, so that two devices never share an MQTT session. */
export function clientId(address: DeviceAddress): string {
  return `${address.tenant}.${address.device}`;
}

/**
 * Reads the name of a command from a topic of this device, of the whole tenant, or of one of these groups; null for any
 * other topic. `fanOut`: the command is for several devices.
 */
export function commandName(
  address: DeviceAddress,
  topic: string,
  groups: readonly string[] = [],
): { name: string; fanOut: boolean } | null {
  const tenant = `${address.prefix}/${address.tenant}`;
  const scopes = [
    [address.device, false],
    ['all', true],
    ...groups.map((group) => [`group/${group}`, true] as const),
  ] as const;
  for (const [scope, fanOut] of scopes) {
    const start = `${tenant}/${scope}/cmd/`;
    if (!topic.startsWith(start)) continue;
    const name = topic.slice(start.length);
    return name.length > 0 && !name.includes('/') ? { name, fanOut } : null;
  }
  return null;
}

/** A device's topics from the operator's side: commands, answers, and what devices publish. */
export interface OperatorTopics {
  /** @param to device, `all` or `group/{name}` */
  command(to: string, name: string): string;
  /** Filter for the answers of one device to a command; null: of all devices. */
  answers(device: string | null, name: string): string;
  /** Filter for a topic that a device publishes; null: all devices. */
  published(device: string | null, what: 'status' | 'state' | 'health' | 'log' | 'config/reported'): string;
  /** @param of device or `group/{name}` */
  desired(of: string): string;
  /** @see markerTopic */
  readonly marker: string;
  /** Splits a topic into the device and the rest; null for other tenants. */
  read(topic: string): { readonly device: string; readonly rest: string } | null;
}

export function operatorTopics(prefix: string, tenant: string): OperatorTopics {
  const base = `${prefix}/${tenant}`;
  return {
    command: (to, name) => `${base}/${to}/cmd/${name}`,
    answers: (device, name) => `${base}/${device ?? '+'}/cmd/${name}/res`,
    published: (device, what) => `${base}/${device ?? '+'}/${what}`,
    desired: (of) => `${base}/${of}/config/desired`,
    marker: markerTopic(prefix, tenant),
    read(topic) {
      if (!topic.startsWith(`${base}/`)) return null;
      const [device = '', ...rest] = topic.slice(base.length + 1).split('/');
      return deviceIdSchema.safeParse(device).success ? { device, rest: rest.join('/') } : null;
    },
  };
}

/** Filter for token requests; `group` distributes them among several backends. */
export function backendFilter(prefix: string, group: string | null): string {
  const filter = `${prefix}/+/+/token/req`;
  return group === null ? filter : `$share/${group}/${filter}`;
}

/** Events that the backend writes into its store. */
export const REPORT_KINDS = ['session_ended', 'conversation_ended'] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

/** Filter for one kind of these events, distributed among backends like the token requests. */
export function reportFilter(prefix: string, kind: ReportKind, group: string | null): string {
  const filter = deviceTopics({ prefix, tenant: '+', device: '+' }).event(kind);
  return group === null ? filter : `$share/${group}/${filter}`;
}

/** Topics on which a device reports about itself, for the backend's figures. */
export const FLEET_NOUNS = ['status', 'state', 'health'] as const;
export type FleetNoun = (typeof FLEET_NOUNS)[number];

/** Filters for what all devices publish about themselves. */
export function fleetFilters(prefix: string): Readonly<Record<FleetNoun, string>> {
  const { status, state, health } = deviceTopics({ prefix, tenant: '+', device: '+' });
  return { status, state, health };
}

/** Sender of a message on one of these topics; null for other topics. */
export function fleetSender(
  prefix: string,
  topic: string,
): { readonly device: string; readonly noun: FleetNoun } | null {
  if (!topic.startsWith(`${prefix}/`)) return null;
  const [tenant, device, last, ...rest] = topic.slice(prefix.length + 1).split('/');
  const noun = FLEET_NOUNS.find((one) => one === last);
  if (noun === undefined || rest.length > 0) return null;
  if (!nameSchema.safeParse(tenant).success || !deviceIdSchema.safeParse(device).success) return null;
  return { device: `${tenant}/${device}`, noun };
}

/** Sender of an event of a `ReportKind`; null for other topics. */
export function reportSender(
  prefix: string,
  topic: string,
): { readonly device: string; readonly kind: ReportKind } | null {
  if (!topic.startsWith(`${prefix}/`)) return null;
  const [tenant, device, noun, last, ...rest] = topic.slice(prefix.length + 1).split('/');
  const kind = REPORT_KINDS.find((one) => one === last);
  if (noun !== 'event' || kind === undefined || rest.length > 0) return null;
  if (!nameSchema.safeParse(tenant).success || !deviceIdSchema.safeParse(device).success) return null;
  return { device: `${tenant}/${device}`, kind };
}

/** The group that backends share (docs/backend.md). */
export const BACKEND_GROUP = 'dragoman-backend';

/** Topics on which a backend sends itself a request as a self-test: matched by `backendFilter`, under a reserved name. */
export function backendSelfTest(prefix: string): { request: string; response: string } {
  const { tokenRequest, tokenResponse } = deviceTopics({ prefix, tenant: 'backend', device: 'backend' });
  return { request: tokenRequest, response: tokenResponse };
}

/**
 * A topic for messages that an owner's program sends to itself: once such a message arrives, all retained messages have
 * arrived. No device has this name. Everyone who may change configurations may use the topic.
 */
export function markerTopic(prefix: string, tenant: string): string {
  return deviceTopics({ prefix, tenant, device: 'backend' }).configDesired;
}

/** The sender of a token request, read only from the topic: the payload is not trusted. Null for other topics. */
export function tokenRequester(prefix: string, topic: string): DeviceAddress | null {
  if (!topic.startsWith(`${prefix}/`)) return null;
  const levels = topic.slice(prefix.length + 1).split('/');
  const [tenant, device, noun, verb] = levels;
  if (levels.length !== 4 || noun !== 'token' || verb !== 'req') return null;
  if (!nameSchema.safeParse(tenant).success || !deviceIdSchema.safeParse(device).success) return null;
  return { prefix, tenant: tenant as string, device: device as string };
}
