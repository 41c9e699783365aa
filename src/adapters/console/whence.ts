/** Where a request comes from. The word of a proxy counts only if the proxy's address is listed. */
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { plainAddress } from '../../protocol/ip-address.ts';

export interface Whence {
  readonly address: string;
  readonly isSecure: boolean;
  readonly origin: string;
}

export interface Connection {
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
  readonly isEncrypted: boolean;
}

/** @param trusted addresses and networks such as `10.0.0.0/8` */
export function createWhence(trusted: readonly string[]): (connection: Connection) => Whence {
  const list = new BlockList();
  for (const entry of trusted) {
    const [network = '', bits] = entry.split('/');
    const address = plainAddress(network);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return ({ headers, remoteAddress = '', isEncrypted }) => {
    const peer = plainAddress(remoteAddress);
    const isProxied = isTrusted(peer);
    const said = (name: string): string | undefined => {
      const value = isProxied ? headers[name] : undefined;
      return typeof value === 'string' && value !== '' ? value : undefined;
    };
    // Each proxy adds the address that it sees: the last one that is no proxy of ours is the browser's.
    const hops = (said('x-forwarded-for') ?? '').split(',').map((hop) => plainAddress(hop.trim()));
    const browser = hops.filter((hop) => isIP(hop) !== 0).findLast((hop) => !isTrusted(hop));
    const isSecure = isEncrypted || said('x-forwarded-proto') === 'https';
    const host = said('x-forwarded-host') ?? headers.host ?? '';
    return {
      address: browser ?? peer,
      isSecure,
      origin: `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`,
    };
  };
}
