import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../protocol/host-name.ts';

/** The valid forms of a Host: `name`, `name:port`, `1.2.3.4:port`, `[::1]:port`. */
const HOST = /^(?:[\w.-]{1,255}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Decides who may connect to the emulator. Any web page can make a browser on this machine send requests here, under a
 * name of its own that points to 127.0.0.1 (DNS rebinding). The Host header reveals such a request; the Origin header
 * reveals a page that uses this machine's address openly.
 */
export interface Door {
  /** Why a request is refused; null if it is allowed. */
  objectTo(request: IncomingMessage): string | null;
}

/** The name in a Host, as in URLs; null if the Host is invalid. */
function nameOf(host: string): string | null {
  const address = `http://${host}/`;
  return HOST.test(host) && URL.canParse(address) ? new URL(address).hostname : null;
}

/** The local address of a connection, as in URLs. */
function arrivedAt({ socket }: IncomingMessage): string | null {
  const address = socket.localAddress?.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '') ?? '';
  return nameOf(address.includes(':') ? `[${address}]` : address);
}

/**
 * @param bound the listening address, as configured
 * @param listed further names by which clients reach it
 * @throws Error for an invalid name
 */
export function createDoor(bound: string, listed: readonly string[]): Door {
  const known = new Set<string>();
  const boundName = nameOf(bound.includes(':') ? `[${bound}]` : bound);
  if (boundName !== null) known.add(boundName);
  for (const name of listed) {
    const plain = /:\d+$/.test(name) && !name.startsWith('[') ? null : nameOf(name);
    if (plain === null) throw new Error(`"${name}" is not the name of a host; give it without a port`);
    known.add(plain);
  }
  const isKnown = (name: string | null, request: IncomingMessage): boolean =>
    name !== null && (isLoopback(name) || known.has(name) || name === arrivedAt(request));

  return {
    objectTo(request) {
      const { host = '', origin } = request.headers;
      const hosts = request.rawHeaders.filter(
        (name, index) => index % 2 === 0 && name.toLowerCase() === 'host',
      );
      if (hosts.length > 1) return 'send exactly one Host';
      if (!isKnown(nameOf(host), request)) {
        return 'Host names another machine; list it with --allow-host if it is a name of this one';
      }
      if (origin === undefined) return null;
      const from = URL.canParse(origin) ? new URL(origin) : null;
      return from !== null && isKnown(nameOf(from.host), request)
        ? null
        : 'Origin is a page of another machine; list its host with --allow-host if it may use this one';
    },
  };
}
