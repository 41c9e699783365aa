/** Where a request comes from. A proxy's header counts only if the proxy's address is listed. */
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { plainAddress } from '../../protocol/ip-address.ts';

export interface Whence {
  readonly address: string;
  readonly isSecure: boolean;
  readonly origin: string;
  readonly isProxied: boolean;
  /** The header "Host", and "X-Forwarded-Host" of a listed proxy. */
  readonly hosts: readonly string[];
}

export interface Connection {
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
  readonly isEncrypted: boolean;
}

export interface WhenceReader {
  isTrusted(address: string): boolean;
  read(connection: Connection): Whence;
}

/** @param trusted addresses and networks such as `10.0.0.0/8` */
export function createWhence(trusted: readonly string[]): WhenceReader {
  const list = new BlockList();
  for (const entry of trusted) {
    const [network = '', bits] = entry.split('/');
    const address = plainAddress(network);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (text: string): boolean => {
    const address = plainAddress(text);
    return isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  };
  const read = ({ headers, remoteAddress = '', isEncrypted }: Connection): Whence => {
    const peer = plainAddress(remoteAddress);
    const isProxied = isTrusted(peer);
    const said = (name: string): string | undefined => {
      const value = isProxied ? headers[name] : undefined;
      return typeof value === 'string' && value !== '' ? value : undefined;
    };
    // Each proxy adds the address that it sees: the last one that is not a proxy of ours is the browser's.
    const hops = (said('x-forwarded-for') ?? '').split(',').map((hop) => plainAddress(hop.trim()));
    const browser = hops.filter((hop) => isIP(hop) !== 0).findLast((hop) => !isTrusted(hop));
    const isSecure = isEncrypted || said('x-forwarded-proto') === 'https';
    const hosts = [headers.host, said('x-forwarded-host')].filter((one) => one !== undefined);
    const host = hosts.at(-1) ?? '';
    return {
      isProxied,
      hosts,
      address: browser ?? peer,
      isSecure,
      origin: `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`,
    };
  };
  return { isTrusted, read };
}
