/** What to do about faults whose lines in the log have a sentence of their own: each names its kind in a field. */
import type { TroubleKind } from '../../src/backend/core/service-trouble.ts';
import type { AudioFault } from '../../src/ports/audio.ts';
import type { BusProblem } from '../../src/ports/bus.ts';

interface Advice {
  readonly says: string;
  readonly todo: string;
}

const DEVICES = '`dragoman devices`';

/** The field `code` of a card's line; in its lane's line `capture_` or `playback_` stands before it. */
export const CARD_ADVICE: Readonly<Record<AudioFault['code'], Advice>> = {
  not_found: {
    says: 'there is no such device or file',
    todo: `the name in the configuration, the cable: ${DEVICES}`,
  },
  busy: {
    says: 'another program has it',
    todo: `${DEVICES} names the program: end it, or take another card`,
  },
  lost: { says: 'it was there and is gone', todo: 'cable, power and socket; it is tried again by itself' },
  hung: {
    says: 'it takes or gives no sound and says nothing',
    todo: 'nothing the first time; often: plug it out and in, another card',
  },
  format: {
    says: 'it takes neither the rate nor the channels that were tried',
    todo: 'a name that begins with `plughw:`',
  },
  too_fast: {
    says: 'it gives more sound than its rate allows',
    todo: 'another `sampleRate`; often: the card is defective',
  },
  failed: { says: 'anything else', todo: 'as the sentence says' },
};

/** The field `problem` of the lines about the connection to the broker. */
export const BROKER_ADVICE: Readonly<Record<BusProblem, Advice>> = {
  unreachable: {
    says: 'name, network, TLS, or a broker that is down',
    todo: 'the way to the broker and whether it runs; it is tried again by itself',
  },
  refused: {
    says: 'the broker, or a file for it, does not let it in',
    todo: 'user name, password, certificate, and the rules of the broker: `dragoman doctor`, check `broker`',
  },
  taken_over: {
    says: 'another client has connected under the same name',
    todo: 'as the reason `identity_conflict`; of a backend: each needs a client identifier of its own',
  },
};

const LIMIT = 'nothing the first time; often: which device asks so much, and whether it should';
const SERVICE_DOWN =
  'nothing the first time; often: `service.url`, the network, the status page of the service';

/** By the code of the denial that comes of it (`CONSEQUENCES` in the backend's core). */
export const SERVICE_ADVICE: Readonly<Record<TroubleKind, string>> = {
  unreachable: SERVICE_DOWN,
  timeout: SERVICE_DOWN,
  unavailable: SERVICE_DOWN,
  malformed: 'report it; whether `service.url` is the right one',
  rate_limited: 'nothing the first time; often: fewer devices for one account',
  pending_limit: 'nothing: sessions that nobody uses end by themselves',
  session_limit: "the account's plan: streams at one time",
  balance: 'top up the account',
  blocked: 'ask the support of the service',
  unauthorized: 'the API key: `apiKeyFile` of the backend',
  misconfigured: 'the line before it: it names what is wrong',
  rejected: 'what the service said stands in the line before it; often: `session` of the configuration',
};

/** The field `code` of "denied", where the backend itself refuses. */
export const DENIAL_ADVICE: Readonly<Record<string, Advice>> = {
  device_not_allowed: { says: 'the device is not in `allow`', todo: 'allow it, or find out who it is' },
  device_disabled: {
    says: 'the configuration of the backend disables it',
    todo: 'nothing, or `disabled` under `devices` or `groups`',
  },
  intent_not_allowed: { says: 'it asks for something else than `s2s`', todo: 'which program it is' },
  connection_type_not_allowed: { says: 'it asks for something else than `ws`', todo: 'which program it is' },
  invalid_request: {
    says: 'its request cannot be read',
    todo: 'the program that sends it: `detail` says why',
  },
  too_many_requests: { says: 'it asks too often', todo: LIMIT },
  backend_busy: { says: 'too many requests wait for the service', todo: SERVICE_DOWN },
  lane_limit_reached: { says: 'it has sessions for as many lanes as it may', todo: 'raise `limits.lanes`' },
  hourly_limit_reached: {
    says: 'it has had as many sessions in an hour as it may',
    todo: 'why its sessions end so soon; raise `limits.sessionsPerHour`',
  },
  device_sessions_limit_reached: {
    says: 'it has as many sessions at once as it may',
    todo: 'nothing the first time: they end by themselves',
  },
};
