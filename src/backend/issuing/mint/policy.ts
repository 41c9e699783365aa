import type { BackendConfig } from '../../../protocol/backend-config.ts';
import { type DenialCode, denial } from '../../../protocol/mqtt/denials.ts';
import type { TokenError, TokenRequest } from '../../../protocol/mqtt/token.ts';
import type { CreateSessionInput } from '../../../protocol/service/session.ts';
import { type DeviceName, exceptionsFor, isAllowed } from '../../config/owned-devices.ts';

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
