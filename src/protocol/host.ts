/** Checks of hosts: is it this machine, and is it on a list. Names are compared in the form of URLs: lower case, IDNA. */
import { z } from 'zod';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;
const IPV4 = /^\d+(\.\d+){3}$/;
const HTTPS_PORT = 443;
const LARGEST_PORT = 65_535;
const ENTRY = /^(\*\.)?(\[[\da-f:.]+\]|[^\s/?#@:\\%*[\]]+)(?::(\d{1,5}))?$/i;

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
  if (host === '' || port < 1 || port > LARGEST_PORT || !URL.canParse(`wss://${host}/`)) return null;
  const name = new URL(`wss://${host}/`).hostname;
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
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return CLEAR.has(protocol) && !isLoopback(hostname);
}
