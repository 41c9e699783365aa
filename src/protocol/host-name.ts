/** Checks whether a host is this machine or on a list. Names are compared in the form of URLs: lower case, IDNA. */
import * as z from 'zod';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;
const IPV4 = /^\d+(\.\d+){3}$/;
const NOT_IN_HOST = /[\p{Cc}\s/?#@\\]|^[^[]*:/u;
const HTTPS_PORT = 443;
const LARGEST_PORT = 65_535;
const ENTRY = /^(\*\.)?(\[[\da-f:.]+\]|[^\s/?#@:\\%*[\]]+)(?::(\d{1,5}))?$/i;

/**
 * Reads an address; its host is in ASCII (IDNA), whatever the scheme. `URL` converts only the hosts of web schemes, and leaves
 * `m%C3%BCsli.example` of `mqtts://müsli.example`, which no name server knows. Null: not an address.
 */
export function readAddress(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const host = url.hostname === '' ? '' : asciiHost(url.hostname);
  if (host === null) return null;
  url.hostname = host;
  return url;
}

/** A host in the form of `URL`: lower case, ASCII (IDNA), IPv6 in brackets. Null: not a host. */
export function asciiHost(host: string): string | null {
  // `URL` would drop these characters, or treat what follows as another part of the address.
  if (NOT_IN_HOST.test(host)) return null;
  return URL.canParse(`https://${host}/`) ? new URL(`https://${host}/`).hostname : null;
}

/** Whether a host name in the form of `URL` is looked up by multicast DNS (RFC 6762). */
export function isMulticastName(hostname: string): boolean {
  return /\.local\.?$/i.test(hostname);
}

/** Whether a host name in the form of `URL` is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

interface Entry {
  /** The host name, or the suffix of a wildcard entry. */
  readonly name: string;
  readonly isSuffix: boolean;
  readonly port: number;
}

/** Reads `name[:port]` or `*.name[:port]`; null for anything else. IP addresses must be written in full. */
function parseEntry(text: string): Entry | null {
  const [, wildcard, host = '', digits] = ENTRY.exec(text) ?? [];
  const port = digits === undefined ? HTTPS_PORT : Number(digits);
  const name = host === '' ? null : asciiHost(host);
  if (name === null || port < 1 || port > LARGEST_PORT) return null;
  const isAddress = IPV4.test(name) || name.startsWith('[');
  if (isAddress && (wildcard !== undefined || name !== host.toLowerCase())) return null;
  return { name, isSuffix: wildcard !== undefined, port };
}

/** One entry of a list of hosts. */
export const hostSchema = z
  .string()
  .max(300)
  .refine(
    (text) => parseEntry(text) !== null,
    'must be a host such as "stream.example", "stream.example:8443", "*.stream.example" or an IP address',
  );

/** Whether a list of hosts contains the host and port of an address. */
export function isListed({ protocol, hostname, port }: URL, hosts: readonly string[]): boolean {
  const asked = port === '' ? (protocol === 'ws:' || protocol === 'http:' ? 80 : HTTPS_PORT) : Number(port);
  return hosts.some((text) => {
    const entry = parseEntry(text);
    if (entry === null || entry.port !== asked) return false;
    return entry.isSuffix ? hostname.endsWith(`.${entry.name}`) : hostname === entry.name;
  });
}

const CLEAR = new Set(['mqtt:', 'ws:', 'http:']);

/** Whether an address leads to another machine without TLS. */
export function isExposedAddress(address: string): boolean {
  const url = readAddress(address);
  return url !== null && CLEAR.has(url.protocol) && !isLoopback(url.hostname);
}
