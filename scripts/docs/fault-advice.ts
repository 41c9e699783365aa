/** Advice for the fault codes in the log. The log sentences vary; a field holds the code. */
import type { TroubleKind } from '../../src/backend/core/service-trouble.ts';
import type { AudioFault } from '../../src/ports/audio.ts';
import type { BusProblem } from '../../src/ports/bus.ts';

interface Advice {
  readonly says: string;
  readonly todo: string;
}

const DEVICES = '`dragoman devices`';

/** The field `code` of a sound card's log line. The lane's log line adds the prefix `capture_` or `playback_`. */
export const CARD_ADVICE: Readonly<Record<AudioFault['code'], Advice>> = {
  not_found: {
    says: 'there is no such device or file',
    todo: `the name in the configuration, the cable: ${DEVICES}`,
  },
  busy: {
    says: 'another program uses it',
    todo: `${DEVICES} names the program: end it, or use another card`,
  },
  lost: { says: 'the device has disappeared', todo: 'cable, power and socket; the agent keeps trying' },
  hung: {
    says: 'it delivers or plays no sound and reports no error',
    todo: 'nothing the first time; often: unplug it and plug it in again, or use another card; behind a sound server: restart that server',
  },
  format: {
    says: 'it accepts none of the sample rates and channel counts that were tried',
    todo: 'a name that begins with `plughw:`',
  },
  too_fast: {
    says: 'it delivers more sound than its sample rate allows',
    todo: 'another `sampleRate`; often: the card is defective',
  },
  failed: { says: 'any other failure', todo: 'follow the log line' },
};

/** The field `problem` of the lines about the connection to the broker. */
export const BROKER_ADVICE: Readonly<Record<BusProblem, Advice>> = {
  unreachable: {
    says: 'name resolution, network or TLS failed, or the broker is down',
    todo: 'the network, and whether the broker runs; the program keeps trying',
  },
  refused: {
    says: 'the broker refuses the login, or a file for the login cannot be used',
    todo: 'user name, password, certificate, and the rules of the broker; `dragoman doctor`, check `broker`',
  },
  taken_over: {
    says: 'another client connected under the same name',
    todo: 'as the reason `identity_conflict`; give each backend its own client identifier',
  },
};

const LIMIT = 'nothing the first time; often: which device sends these requests, and why';
const SERVICE_DOWN =
  'nothing the first time; often: `service.url`, the network, the status page of the service';

/** Advice by kind of service failure. `CONSEQUENCES` in the backend's core holds the denial code of each. */
export const SERVICE_ADVICE: Readonly<Record<TroubleKind, string>> = {
  unreachable: SERVICE_DOWN,
  timeout: SERVICE_DOWN,
  unavailable: SERVICE_DOWN,
  malformed: 'whether `service.url` is correct; then report it',
  rate_limited: 'nothing the first time; often: fewer devices for one account',
  pending_limit: 'nothing: unused sessions expire',
  session_limit: "the account's limit of concurrent streams",
  balance: 'top up the account',
  blocked: 'ask the support of the service',
  unauthorized: 'the API key: `apiKeyFile` of the backend',
  misconfigured: 'the log line before it, which names the problem',
  rejected: "the log line before it, with the service's answer; often: `session` of the configuration",
};

/** The field `code` of the log line "denied" when the backend itself refuses. */
export const DENIAL_ADVICE: Readonly<Record<string, Advice>> = {
  device_not_allowed: {
    says: 'the device is not in `allow`',
    todo: 'add it to `allow`, or find out which device it is',
  },
  device_disabled: {
    says: 'the backend configuration disables the device',
    todo: 'nothing, or `disabled` under `devices` or `groups`',
  },
  intent_not_allowed: { says: 'the request is not for `s2s`', todo: 'which program sends it' },
  connection_type_not_allowed: { says: 'the request is not for `ws`', todo: 'which program sends it' },
  invalid_request: {
    says: 'the request cannot be read',
    todo: 'the program that sends it; `detail` says why',
  },
  too_many_requests: { says: 'the device sends requests too often', todo: LIMIT },
  backend_busy: { says: 'too many requests are waiting for the service', todo: SERVICE_DOWN },
  store_unavailable: {
    says: 'the backend cannot use its store',
    todo: 'the log line "the store cannot be used", which says why',
  },
  lane_limit_reached: {
    says: 'the device already has sessions for `limits.lanes` lanes',
    todo: 'raise `limits.lanes`',
  },
  hourly_limit_reached: {
    says: 'the device reached `limits.sessionsPerHour`',
    todo: 'why its sessions end so soon; or raise the limit',
  },
  device_sessions_limit_reached: {
    says: 'the device has too many sessions at once',
    todo: 'nothing the first time: old sessions end by themselves',
  },
};
