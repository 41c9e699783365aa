import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  type PeerCertificate,
  type TLSSocket,
} from 'node:tls';
import { ADDRESS_LIMIT_MS } from '../../../adapters/network/address-attempts.ts';
import { isAboutOwnFiles, isOurCertificateRefused, tlsReason } from '../../../adapters/network/tls-reason.ts';
import type { Clock } from '../../../ports/clock.ts';
import { readAddress } from '../../../protocol/host-name.ts';
import type { CertificateFacts } from './certificate-rules.ts';
import type { ReachFacts } from './reach-rules.ts';

/** Time limit of each step of a connection (ms). */
export const STEP_LIMIT_MS = 5000;

/** A server and the TLS material to connect to it. */
export interface Server {
  readonly host: string;
  readonly port: number;
  /** Null without TLS. */
  readonly tls: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer } | null;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'mqtt:': 1883,
  'mqtts:': 8883,
  'ws:': 80,
  'wss:': 443,
  'http:': 80,
  'https:': 443,
};
const SECURE = new Set(['mqtts:', 'wss:', 'https:']);

/** The server of an address, with the port that its scheme implies. */
export function serverOf(address: string, tls: NonNullable<Server['tls']>): Server {
  const url = readAddress(address);
  if (url === null) throw new TypeError('not an address');
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port),
    tls: SECURE.has(url.protocol) ? tls : null,
  };
}

type Failure = NonNullable<ReachFacts['failure']>;

/** The timeout leaves time for this many unresponsive addresses before one that answers. */
const MOST_SILENT_ADDRESSES = 2;

/**
 * Looks up a server's name, connects, and completes the TLS handshake, each within `limitMs` for an address that answers.
 * Sends no data. Never rejects. An invalid certificate is inspected as well.
 */
export async function reach(server: Server, limitMs: number, clock: Clock): Promise<ReachFacts> {
  const { host, port } = server;
  const facts = (more: Partial<ReachFacts>): ReachFacts => ({
    host,
    port,
    addresses: [],
    address: null,
    unanswered: [],
    failure: null,
    connectMs: null,
    certificate: null,
    ...more,
  });
  const resolved = await resolve(host, limitMs);
  if ('failure' in resolved) return facts(resolved);
  const { addresses } = resolved;
  const startedAt = clock.now();
  const opening = connectTcp({ host, port, autoSelectFamily: true });
  const unanswered = watchAttempts(opening);
  const silent = Math.min(addresses.length - 1, MOST_SILENT_ADDRESSES);
  const connected = await open(opening, 'connect', limitMs + silent * ADDRESS_LIMIT_MS);
  const connectMs = clock.now() - startedAt;
  const address = opening.remoteAddress ?? null;
  opening.destroy();
  const seen = { addresses, address, unanswered };
  if (connected.code !== null) {
    const code = mostTelling(unanswered) ?? connected.code;
    return facts({ ...seen, failure: { step: 'connection', code } });
  }
  if (server.tls === null) return facts({ ...seen, connectMs });
  return facts({ ...seen, connectMs, ...(await shakeHands(server, address ?? host, server.tls, limitMs)) });
}

/** Collects the addresses to which no connection was possible; the list is filled while the socket connects. */
function watchAttempts(socket: Socket): { address: string; code: string }[] {
  const unanswered: { address: string; code: string }[] = [];
  socket.on('connectionAttemptFailed', (address, _port, _family, error) =>
    unanswered.push({ address, code: codeOf(error) }),
  );
  socket.on('connectionAttemptTimeout', (address) => unanswered.push({ address, code: 'TIMEOUT' }));
  return unanswered;
}

const NO_ROUTE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL']);

/** The failure of an address that has a route: a machine with only IPv4 or only IPv6 has no route to the others. */
function mostTelling(unanswered: readonly { code: string }[]): string | null {
  return unanswered.find(({ code }) => !NO_ROUTE.has(code))?.code ?? null;
}

async function resolve(
  host: string,
  limitMs: number,
): Promise<{ addresses: string[] } | { failure: Failure }> {
  if (isIP(host) !== 0) return { addresses: [host] };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('late'), { code: 'TIMEOUT' })), limitMs);
  });
  try {
    const found = await Promise.race([lookup(host, { all: true }), late]);
    return { addresses: found.map(({ address }) => address) };
  } catch (error) {
    return { failure: { step: 'name', code: codeOf(error) } };
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until a socket is open. `code`: why it did not open, or null; `reason`: OpenSSL's reason, if it gave one. */
function open<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  limitMs: number,
): Promise<{ socket: S; code: string | null; reason: string | null }> {
  return new Promise((resolve) => {
    const settle = (code: string | null, reason: string | null = null): void => {
      clearTimeout(timer);
      resolve({ socket, code, reason });
    };
    const timer = setTimeout(() => settle('TIMEOUT'), limitMs);
    socket.once(event, () => settle(null));
    socket.on('error', (error) => settle(codeOf(error), tlsReason(error)));
    socket.once('close', () => settle('ECONNRESET'));
  });
}

/** How long to wait after the handshake (milliseconds): in TLS 1.3 the server may refuse our certificate so late. */
const AFTERTHOUGHT_MS = 150;

async function shakeHands(
  { host, port }: Server,
  address: string,
  tls: NonNullable<Server['tls']>,
  limitMs: number,
): Promise<Pick<ReachFacts, 'failure' | 'certificate'>> {
  const fail = (code: string, reason: string | null): Pick<ReachFacts, 'failure' | 'certificate'> => ({
    failure: { step: 'tls', code: kindOf(code, reason), reason },
    certificate: null,
  });
  const name = isIP(host) === 0 ? { servername: host } : {};
  const options = { host: address, port, ...tls, ...name };
  let socket: TLSSocket;
  try {
    // This connection carries only the handshake, so it is safe to accept an invalid certificate and inspect it.
    socket = connectTls({ ...options, rejectUnauthorized: false });
  } catch (error) {
    return fail(codeOf(error), tlsReason(error));
  }
  try {
    const { code, reason } = await open(socket, 'secureConnect', limitMs);
    if (code !== null) return fail(code, reason);
    const certificate = readCertificate(socket);
    const afterthought = await turnedDown(socket);
    if (afterthought !== null) return fail(afterthought.code, afterthought.reason);
    if (certificate.distrust !== UNNAMED) return { failure: null, certificate };
    return {
      failure: null,
      certificate: { ...certificate, distrustReason: await strictReason(options, limitMs) },
    };
  } finally {
    socket.destroy();
  }
}

function kindOf(code: string, reason: string | null): string {
  if (isOurCertificateRefused(code, reason)) return 'CLIENT_CERTIFICATE';
  return isAboutOwnFiles(code) ? 'UNUSABLE_PEM' : code;
}

/** Node's code for an OpenSSL reason without a code of its own. Only a socket that rejects the certificate reports the reason. */
const UNNAMED = 'UNSPECIFIED';

async function strictReason(options: ConnectionOptions, limitMs: number): Promise<string | null> {
  const { socket, reason } = await open(connectTls(options), 'secureConnect', limitMs);
  socket.destroy();
  return reason;
}

/** How the server refuses our certificate after the handshake; null: it does not. */
function turnedDown(socket: TLSSocket): Promise<{ code: string; reason: string | null } | null> {
  return new Promise((resolve) => {
    const settle = (error: Error | null): void => {
      clearTimeout(timer);
      const [code, reason] = [codeOf(error), tlsReason(error)];
      resolve(isOurCertificateRefused(code, reason) ? { code, reason } : null);
    };
    const timer = setTimeout(() => settle(null), AFTERTHOUGHT_MS);
    socket.once('error', settle);
    socket.once('close', () => settle(null));
    socket.resume();
  });
}

function readCertificate(socket: TLSSocket): CertificateFacts {
  const certificate: Partial<PeerCertificate> = socket.getPeerCertificate();
  const { subjectaltname, subject, issuer, valid_from: from, valid_to: to } = certificate;
  const common = nameIn(subject);
  const names = (subjectaltname ?? '').split(/,\s*/).filter((name) => name !== '');
  const distrust: unknown = socket.authorized ? null : socket.authorizationError;
  return {
    names: names.length > 0 ? names : common === '' ? [] : [common],
    issuer: nameIn(issuer) || 'an unnamed authority',
    validFrom: Date.parse(from ?? ''),
    validTo: Date.parse(to ?? ''),
    distrust: distrust === null ? null : distrust instanceof Error ? codeOf(distrust) : String(distrust),
  };
}

function nameIn(holder: PeerCertificate['subject'] | undefined): string {
  const name: unknown = holder?.CN ?? holder?.O;
  return Array.isArray(name) ? name.join(', ') : typeof name === 'string' ? name : '';
}

/** The first code in an error or in its inner errors. Never its text, which may hold anything. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return 'UNKNOWN';
}
