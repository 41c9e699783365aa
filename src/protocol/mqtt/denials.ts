/**
 * Why a backend gives no token: each denial once, with its English for owners. The table in docs/backend.md is generated from it;
 * the backend sends its title, and the doctor gives its advice.
 */
import type { TokenError } from './token.ts';

interface DenialRow {
  /** A person has to act: the device retries slowly. */
  readonly final: boolean;
  /** For people, short; part of the answer. */
  readonly title: string;
  readonly todo: string;
}

const SERVICE_DOWN =
  'Nothing the first time. If it stays: check `service.url` of the backend, the network, and the status page of the service.';

export const DENIALS = {
  device_not_allowed: {
    final: true,
    title: 'Unknown device',
    todo: 'Add the device to `allow` in the configuration of the backend, or find out which device it is.',
  },
  device_disabled: {
    final: true,
    title: 'Device disabled',
    todo: 'Nothing if that is meant. Otherwise remove `disabled` under `devices` or `groups`.',
  },
  intent_not_allowed: {
    final: true,
    title: 'Intent not allowed',
    todo: 'Find the program that sends the request, or add `s2s` to `session.intents` of the backend.',
  },
  connection_type_not_allowed: {
    final: true,
    title: 'Transport not allowed',
    todo: 'Find the program that sends the request, or add `ws` to `session.connectionTypes` of the backend.',
  },
  invalid_request: {
    final: true,
    title: 'Invalid request',
    todo: 'Update the older one of backend and agent, or find the other program that sends the request.',
  },
  too_many_requests: {
    final: false,
    title: 'Too many requests',
    todo: 'Nothing the first time. If it stays: find out why this device asks so often.',
  },
  backend_busy: {
    final: false,
    title: 'Backend busy',
    todo: SERVICE_DOWN,
  },
  store_unavailable: {
    final: false,
    title: 'Backend without store',
    todo: 'See the line "the store cannot be used" in the log of the backend.',
  },
  lane_limit_reached: {
    final: true,
    title: 'Too many lanes',
    todo: 'Raise `limits.lanes` of the backend.',
  },
  hourly_limit_reached: {
    final: false,
    title: 'Too many sessions within an hour',
    todo: 'Find out why its sessions end so soon, or raise `limits.sessionsPerHour` of the backend.',
  },
  device_sessions_limit_reached: {
    final: false,
    title: 'Too many sessions at once',
    todo: 'Nothing the first time: old sessions end by themselves. If it stays: raise `limits.sessionsAtOnce` of the backend.',
  },
  pending_sessions_limit_reached: {
    final: false,
    title: 'Too many sessions are created and not used',
    todo: 'Nothing: unused sessions expire.',
  },
  service_unreachable: {
    final: false,
    title: 'The translation service cannot be reached',
    todo: SERVICE_DOWN,
  },
  service_timeout: {
    final: false,
    title: 'The translation service did not answer in time',
    todo: SERVICE_DOWN,
  },
  service_unavailable: {
    final: false,
    title: 'The translation service is not available',
    todo: SERVICE_DOWN,
  },
  service_malformed: {
    final: false,
    title: 'The translation service sent an invalid answer',
    todo: 'Check `service.url` of the backend, then report it.',
  },
  service_rate_limited: {
    final: false,
    title: 'The translation service received too many requests',
    todo: 'Nothing the first time. If it stays: use fewer devices for one account.',
  },
  session_limit_reached: {
    final: false,
    title: 'Too many streams are running',
    todo: 'Raise the account’s limit of concurrent streams, or stop other streams.',
  },
  insufficient_balance: {
    final: true,
    title: 'The account has no balance left',
    todo: 'Top up the account.',
  },
  account_blocked: {
    final: true,
    title: 'The account is blocked',
    todo: 'Ask the support of the service.',
  },
  backend_unauthorized: {
    final: true,
    title: 'The service does not accept the API key of the backend',
    todo: 'Put a valid API key into the file of `service.apiKeyFile` of the backend.',
  },
  backend_misconfigured: {
    final: true,
    title: 'The backend cannot ask the service',
    todo: 'See the line before it in the log of the backend.',
  },
  service_rejected: {
    final: true,
    title: 'The translation service rejects the request',
    todo: 'See the line before it in the log of the backend: it has the service’s answer. Often `session` of the configuration is wrong.',
  },
} as const satisfies Record<string, DenialRow>;

export type DenialCode = keyof typeof DENIALS;

/** @param detail for people: what exactly was refused, and how to fix it */
export function denial(code: DenialCode, detail: string, retryAfterS: number): TokenError {
  const { title, final } = DENIALS[code];
  return { code, title, detail, final, retry_after_s: retryAfterS };
}

/** @returns null for a denial of another backend, which this program does not know */
export function denialRow(code: string): DenialRow | null {
  return Object.hasOwn(DENIALS, code) ? DENIALS[code as DenialCode] : null;
}
