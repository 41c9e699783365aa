import { isListed, isLoopback } from '../../protocol/host-name.ts';

/**
 * Why an address is refused: completes "the stream_url ..." and gives the fix. Contains neither token nor address.
 */
export class AddressError extends Error {}

/** Maximum length of a host name in an error (characters): the text comes from outside. */
const LONGEST_HOST_SHOWN = 120;

/**
 * The address of a connection (docs/service.md 4.7): `{random_hash}` replaced by a fresh URL-safe string. A token is
 * sent only to hosts that the owner has listed, over TLS or inside this machine.
 * @param template address from the grant; a legacy session's `ws_url` simply has no `{random_hash}`
 * @param hosts as in the configuration's `service.hosts`; none: any host is allowed
 * @throws AddressError with no token in its text, and at most the host of the address
 */
export function streamAddress(template: string, randomHash: string, hosts: readonly string[]): URL {
  const filled = template.replaceAll('{random_hash}', randomHash);
  if (!URL.canParse(filled)) throw new AddressError('is not a URL: give it as "wss://host/path"');
  // A URL drops these silently: the checked text would differ from the opened address.
  if (/[\p{Cc}\s]/u.test(filled)) throw new AddressError('holds a blank or a control character: remove it');
  // WebSocket addresses have no fragments, and clients throw at one (RFC 6455, section 3).
  if (filled.includes('#')) throw new AddressError('holds a "#", which no WebSocket address may: remove it');
  const url = new URL(filled);
  const secure = url.protocol === 'wss:' || (url.protocol === 'ws:' && isLoopback(url.hostname));
  if (!secure) throw new AddressError('is neither wss:// nor on this machine: give it as "wss://host/path"');
  if (hosts.length > 0 && !isListed(url, hosts)) {
    const host = url.host.slice(0, LONGEST_HOST_SHOWN);
    throw new AddressError(`leads to ${host}, which is not among service.hosts: no token is sent there`);
  }
  if (url.username !== '' || url.password !== '')
    throw new AddressError('holds a user name or a password before the host: remove it, the token is enough');
  return url;
}
