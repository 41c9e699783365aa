import { fixOf, tlsAdvice } from '../../../core/network/tls-advice.ts';
import type { WallMs } from '../../../protocol/common/time.ts';
import { isMulticastName } from '../../../protocol/host-name.ts';
import { combine, type Outcome, ok, problem, warning } from '../report/finding.ts';
import { type CertificateFacts, judgeCertificate } from './certificate-rules.ts';

/** How far a connection to a server got. */
export interface ReachFacts {
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  /** The address that answered; null: none did. */
  readonly address: string | null;
  /** Addresses that did not answer, each with its error code. */
  readonly unanswered: readonly { readonly address: string; readonly code: string }[];
  /** The step that failed; null if the connection succeeded. */
  readonly failure: {
    readonly step: 'name' | 'connection' | 'tls';
    readonly code: string;
    /** OpenSSL's reason, at step `tls`; null: it gave none. */
    readonly reason?: string | null;
  } | null;
  readonly connectMs: number | null;
  /** Null without TLS. */
  readonly certificate: CertificateFacts | null;
}

export interface ReachQuestion {
  /** Name of the server in a sentence: "the broker", "the stream host". */
  readonly who: string;
  /** Where the address comes from, so that a person can change it there. */
  readonly addressFrom: string;
  readonly caKey: string;
  readonly wall: WallMs | null;
  /** Environment variable that names a proxy; the proxy is not used. Null: none. */
  readonly proxy?: string | null;
}

const MULTICAST_FIX =
  'Names in ".local" need multicast DNS on this machine: set MulticastDNS=resolve in /etc/systemd/resolved.conf and in the [Network] section of its interface, or install libnss-mdns; or give the IP address instead';

const NAME_FAILURES: Readonly<Record<string, readonly [why: string, fix: string]>> = {
  ENOTFOUND: ['this name is unknown', 'Check the spelling'],
  EAI_AGAIN: ['the name server does not answer', 'Check the network cable or WLAN and the name server'],
  TIMEOUT: ['the name server does not answer', 'Check the network cable or WLAN and the name server'],
};

const CONNECTION_FAILURES: Readonly<Record<string, readonly [why: string, fix: string]>> = {
  ECONNREFUSED: ['nothing listens there', 'Start it, or check the port'],
  ECONNRESET: ['it closes the connection', 'Check for a firewall or proxy in between'],
  TIMEOUT: ['no answer', 'Check the network and whether a firewall lets this port through'],
  ETIMEDOUT: ['no answer', 'Check the network and whether a firewall lets this port through'],
  EHOSTUNREACH: ['there is no route to it', 'Check the network and its gateway'],
  ENETUNREACH: ['this machine has no network', 'Plug the cable in, or join the WLAN'],
  EADDRNOTAVAIL: ['this machine has no network', 'Plug the cable in, or join the WLAN'],
};

export function judgeReach(facts: ReachFacts, question: ReachQuestion): Outcome {
  const { proxy = null } = question;
  const { host, port, failure, connectMs, address, unanswered } = facts;
  const data = {
    host,
    port,
    addresses: facts.addresses,
    connect_ms: tenths(connectMs),
    ...(address !== null && { address, family: familyOf(address) }),
    ...(unanswered.length > 0 && { unanswered }),
    ...(proxy !== null && { proxy_ignored: proxy }),
  };
  if (failure === null) return judgeReached(facts, question, data);
  return failure.step === 'tls'
    ? judgeHandshake(facts, failure, question, data)
    : judgeUnreached(facts, failure, question, data);
}

type Failure = NonNullable<ReachFacts['failure']>;

function judgeReached(
  facts: ReachFacts,
  { who, caKey, wall, proxy = null }: ReachQuestion,
  data: Outcome['data'],
): Outcome {
  const { host, port, address, certificate, connectMs } = facts;
  const over =
    address === null || facts.addresses.includes(host) ? '' : ` over ${familyOf(address)} (${address})`;
  const took = Math.max(1, Math.round(connectMs ?? 0));
  const direct = proxy === null ? '' : `, without the proxy of ${proxy}`;
  return combine([
    ok(`${host}:${port} reached${over} in ${took} ms${direct}`, data),
    ...judgeSilence(facts, who),
    ...(certificate === null ? [] : [judgeCertificate(certificate, { host, wall, caKey })]),
  ]);
}

/** Judges a host whose name was not found, or that accepted no connection. */
function judgeUnreached(
  { host, port }: ReachFacts,
  { step, code }: Failure,
  { who, addressFrom, proxy = null }: ReachQuestion,
  data: Outcome['data'],
): Outcome {
  const hint =
    proxy === null
      ? ''
      : ` ${proxy} is set, but all connections are direct: let ${host}:${port} through the firewall.`;
  const from = `the address comes from ${addressFrom}.${hint}`;
  if (step === 'name') {
    const [why, fix] = NAME_FAILURES[code] ?? [`the name cannot be looked up (${code})`, 'Check the name'];
    const multicast = isMulticastName(host) && code !== 'TIMEOUT' ? MULTICAST_FIX : fix;
    return problem(`${who} ${host}: ${why}`, `${multicast}; ${from}`, data);
  }
  const [why, fix] = CONNECTION_FAILURES[code] ?? [`no connection (${code})`, 'Check the network'];
  return problem(`${who} ${host}:${port}: ${why}`, `${fix}; ${from}`, data);
}

function judgeHandshake(
  { host, port }: ReachFacts,
  { code, reason = null }: Failure,
  { who, addressFrom }: ReachQuestion,
  data: Outcome['data'],
): Outcome {
  const advice = reason === null ? null : tlsAdvice(reason);
  const because = reason === null ? '' : ` (${reason})`;
  if (code === 'CLIENT_CERTIFICATE')
    return problem(
      `${who} ${host}:${port} does not accept our certificate${because}`,
      'Have a certificate issued for this device by an authority that the server trusts.',
      { ...data, login: 'refused' },
    );
  if (code === 'UNUSABLE_PEM')
    return problem(
      `the TLS files for ${who} cannot be used${because}`,
      advice === null
        ? 'Check that the certificate, key and authority files of the configuration are PEM and belong together.'
        : fixOf(advice),
      data,
    );
  const plain = code === 'TIMEOUT' ? 'does not answer the TLS handshake' : `fails at TLS (${reason ?? code})`;
  return problem(
    `${who} ${host}:${port} ${plain}`,
    `${advice === null ? 'Check whether this port speaks TLS at all' : fixOf(advice).slice(0, -1)}; the address comes from ${addressFrom}.`,
    data,
  );
}

const familyOf = (address: string): string => (address.includes(':') ? 'IPv6' : 'IPv4');

/** An address that drops packets delays each connection. One without a route fails at once, which is harmless. */
function judgeSilence({ unanswered, host, address }: ReachFacts, who: string): Outcome[] {
  const silent = unanswered.filter(({ code }) => code === 'TIMEOUT' || code === 'ETIMEDOUT');
  const [first] = silent;
  if (first === undefined || address === null) return [];
  const family = familyOf(first.address);
  const list = silent.map((one) => one.address).join(', ');
  const fix =
    family === familyOf(address)
      ? `Remove ${list} from the addresses of ${host}, or make it answer.`
      : `Repair ${family} in this network or switch it off, or remove ${list} from the addresses of ${host}.`;
  return [
    warning(
      `${who} ${host} does not answer over ${family} (${list}), which delays each connection by seconds; ${familyOf(address)} (${address}) works`,
      fix,
    ),
  ];
}

const tenths = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 10) / 10);
