import type { BackendConfig } from '../../protocol/backend-config.ts';
import type { TokenError, TokenRequest } from '../../protocol/mqtt/token.ts';
import type { CreateSessionInput } from '../../protocol/service/session.ts';

/** Who asks, from the topic. */
export interface DeviceName {
  readonly tenant: string;
  readonly device: string;
}

export type Wish = Pick<TokenRequest, 'lane' | 'intent' | 'connection_type'>;
export type Policy = Pick<BackendConfig, 'allow' | 'devices' | 'session'>;

/** What only a person can change is asked for again slowly. */
const MENDABLE_RETRY_S = 300;

/** The service's label of a lane: `tenant/device/lane`. */
export function referenceOf({ tenant, device }: DeviceName, lane: string): string {
  return `${tenant}/${device}/${lane}`;
}

/** Whether a device may have what it asks for, and on which terms. */
export function judge(
  policy: Policy,
  who: DeviceName,
  wish: Wish,
): { ok: true; input: CreateSessionInput } | { ok: false; error: TokenError } {
  const exception = policy.devices[`${who.tenant}/${who.device}`];
  if (!policy.allow.some((pattern) => matches(pattern, who))) {
    return deny('device_not_allowed', 'Unknown device', 'the owner has not allowed this device');
  }
  if (exception?.disabled)
    return deny('device_disabled', 'Device disabled', 'the owner has disabled this device');
  const terms = { ...policy.session, ...definedOf(exception?.session ?? {}) };
  if (!terms.intents.includes(wish.intent)) {
    return deny('intent_not_allowed', 'Intent not allowed', `this device may not use ${wish.intent}`);
  }
  if (!terms.connectionTypes.includes(wish.connection_type)) {
    return deny('connection_type_not_allowed', 'Transport not allowed', `not over ${wish.connection_type}`);
  }
  const input: CreateSessionInput = {
    intent: wish.intent,
    connection_type: wish.connection_type,
    expires_in_seconds: terms.expiresInSeconds,
    single_use: terms.singleUse,
    client_reference_id: referenceOf(who, wish.lane),
    ...(terms.maxSessionDurationSeconds !== null && {
      max_session_duration_seconds: terms.maxSessionDurationSeconds,
    }),
  };
  return { ok: true, input };
}

function matches(pattern: string, { tenant, device }: DeviceName): boolean {
  const [wantedTenant, wantedDevice] = pattern.split('/');
  return (
    (wantedTenant === '*' || wantedTenant === tenant) && (wantedDevice === '*' || wantedDevice === device)
  );
}

function deny(code: string, title: string, detail: string): { ok: false; error: TokenError } {
  return { ok: false, error: { code, title, detail, final: true, retry_after_s: MENDABLE_RETRY_S } };
}

/** Without keys whose value is undefined, which would hide the defaults. */
function definedOf<T extends object>(exceptions: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(exceptions).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
