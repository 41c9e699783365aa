import type { BackendConfig } from '../../../protocol/backend-config.ts';
import { type DenialCode, denial } from '../../../protocol/mqtt/denials.ts';
import type { TokenError, TokenRequest } from '../../../protocol/mqtt/token.ts';
import type { CreateSessionInput } from '../../../protocol/service/session.ts';

/** The sender of a request, from the topic. */
export interface DeviceName {
  readonly tenant: string;
  readonly device: string;
}

/** @param name `tenant/device`, as the store names it */
export function nameOf(name: string): DeviceName {
  const [tenant = '', device = ''] = name.split('/');
  return { tenant, device };
}

export type IssueCase = Pick<TokenRequest, 'lane' | 'intent' | 'connection_type'>;
export type Policy = Pick<BackendConfig, 'allow' | 'groups' | 'devices' | 'session' | 'limits'>;

/** Limits of one device. */
export type Allowance = Pick<BackendConfig['limits'], 'lanes' | 'sessionsAtOnce' | 'sessionsPerHour'>;

/** Retry time after a denial that only a person can change (s). */
const FIXABLE_RETRY_S = 300;

/** The service's label of a lane: `tenant/device/lane`. */
export function referenceOf({ tenant, device }: DeviceName, lane: string): string {
  return `${tenant}/${device}/${lane}`;
}

export type Verdict =
  | { ok: true; input: CreateSessionInput; allowance: Allowance }
  | { ok: false; error: TokenError };

/** Decides whether a device may have a session, and on which terms. */
export function judge(policy: Policy, who: DeviceName, request: IssueCase): Verdict {
  if (!isAllowed(policy, who)) {
    return deny('device_not_allowed', 'the owner has not allowed this device');
  }
  const exceptions = exceptionsFor(policy, who);
  const disabled = exceptions.reduce<boolean>((before, one) => one.disabled ?? before, false);
  if (disabled) return deny('device_disabled', 'the owner has disabled this device');
  const terms = overlay(
    policy.session,
    exceptions.map(({ session }) => session),
  );
  const allowance = overlay<Allowance>(
    policy.limits,
    exceptions.map(({ limits }) => limits),
  );
  if (!terms.intents.includes(request.intent)) {
    return deny('intent_not_allowed', `this device may not use ${request.intent}`);
  }
  if (!terms.connectionTypes.includes(request.connection_type)) {
    return deny('connection_type_not_allowed', `this device may not use ${request.connection_type}`);
  }
  const input: CreateSessionInput = {
    intent: request.intent,
    connection_type: request.connection_type,
    expires_in_seconds: terms.expiresInSeconds,
    single_use: terms.singleUse,
    client_reference_id: referenceOf(who, request.lane),
    ...(terms.maxSessionDurationSeconds !== null && {
      max_session_duration_seconds: terms.maxSessionDurationSeconds,
    }),
  };
  return { ok: true, input, allowance };
}

/** Whether the device is one of the owner's. */
export function isAllowed({ allow }: Pick<Policy, 'allow'>, who: DeviceName): boolean {
  return allow.some((pattern) => matches(pattern, who));
}

/** Whether the owner's configuration names this device itself, not only by a pattern. */
export function isListed({ allow, groups, devices }: Policy, { tenant, device }: DeviceName): boolean {
  const name = `${tenant}/${device}`;
  return (
    Object.hasOwn(devices, name) ||
    allow.includes(name) ||
    groups.some(({ members }) => members.includes(name))
  );
}

/** The groups of a device, in their order. */
export function groupsOf({ groups }: Pick<Policy, 'groups'>, who: DeviceName): Policy['groups'] {
  return groups.filter(({ members }) => members.some((pattern) => matches(pattern, who)));
}

/** The device's site, for the bill; null: not configured. */
export function siteOf(policy: Pick<Policy, 'groups' | 'devices'>, who: DeviceName): string | null {
  const sites = exceptionsFor(policy, who).flatMap(({ site }) => site ?? []);
  return sites.at(-1) ?? null;
}

/** Exceptions of the groups in their order, then those of the device. Later ones win. */
function exceptionsFor({ groups, devices }: Pick<Policy, 'groups' | 'devices'>, who: DeviceName) {
  const name = `${who.tenant}/${who.device}`;
  const own = Object.hasOwn(devices, name) ? devices[name] : undefined;
  const shared = groupsOf({ groups }, who);
  return own === undefined ? shared : [...shared, own];
}

function matches(pattern: string, { tenant, device }: DeviceName): boolean {
  const [wantedTenant = '', wantedDevice = ''] = pattern.split('/');
  return fits(wantedTenant, tenant) && fits(wantedDevice, device);
}

/** `*` matches any number of characters, including none. Each part is searched once, from the left. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const partAt = name.indexOf(part, at);
    if (partAt === -1) return false;
    at = partAt + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

function deny(code: DenialCode, detail: string): { ok: false; error: TokenError } {
  return { ok: false, error: denial(code, detail, FIXABLE_RETRY_S) };
}

/** Later layers win. A key with the value undefined does not override. */
function overlay<T extends object>(
  base: T,
  layers: readonly { readonly [K in keyof T]?: T[K] | undefined }[],
): T {
  const result = { ...base };
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer))
      if (value !== undefined) Object.assign(result, { [key]: value });
  }
  return result;
}
