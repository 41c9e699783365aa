/** The names at which the console answers. Any web page can make a browser send requests under the page's own name (DNS rebinding). */
import { X509Certificate } from 'node:crypto';
import { oneLine } from '../../protocol/common/plain-text.ts';
import { asciiHost, isLoopback } from '../../protocol/host-name.ts';
import { isAddress, plainAddress } from '../../protocol/ip-address.ts';

const LONGEST_SHOWN = 100;

export interface Asked {
  /** The header "Host", and the host for which the browser asked according to a trusted proxy. Browsers always send one. */
  readonly hosts: readonly string[];
  /** The server's address at which the connection arrived. */
  readonly localAddress: string;
  readonly isProxied: boolean;
}

export interface OwnNames {
  /** Why a request is refused; null: it may pass. */
  objectionTo(asked: Asked): string | null;
  /** Uses the names of a renewed certificate. */
  renew(cert: string): void;
}

/** @param listed `console.hosts`; while it is empty, a proxy decides which names it passes on */
export function createOwnNames(listed: readonly string[], cert: string | null): OwnNames {
  const names = new Set(listed.map((name) => asciiHost(name)));
  let certificate = cert === null ? null : new X509Certificate(cert);
  const isOwn = (name: string, localAddress: string): boolean => {
    if (isLoopback(name) || names.has(name)) return true;
    if (!isAddress(name)) return certificate?.checkHost(name) !== undefined;
    const address = plainAddress(name);
    return address === plainAddress(localAddress) || certificate?.checkIP(address) !== undefined;
  };
  return {
    objectionTo({ hosts, localAddress, isProxied }) {
      if (isProxied && listed.length === 0) return null;
      const strange = hosts.find((host) => {
        const name = nameOf(host);
        return name === null || !isOwn(name, localAddress);
      });
      if (strange === undefined) return null;
      const shown = oneLine(strange.slice(0, LONGEST_SHOWN));
      return `the console does not answer to "${shown}": open it under one of its own names, or add this name to console.hosts in the backend's configuration`;
    },
    renew(next) {
      certificate = new X509Certificate(next);
    },
  };
}

/** The name in `name:port`, as `URL` writes it; null: it is not a valid name. */
function nameOf(host: string): string | null {
  const [, name = ''] = /^(.*?)\.?(?::\d+)?$/.exec(host) ?? [];
  return asciiHost(name);
}
