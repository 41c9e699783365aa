/** Why an address is not used: completes "the stream_url ..." and says what to do. Holds neither token nor address. */
export class AddressError extends Error {}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The address of one connection (specification 4.7): `{random_hash}` replaced by a fresh URL-safe
 * string, the token as query parameter. A token only travels over TLS or inside this machine.
 * @param template address from the grant; a legacy session's `ws_url` simply has no `{random_hash}`
 * @throws AddressError in words that hold neither token nor address
 */
export function streamAddress(template: string, token: string, randomHash: string): string {
  const filled = template.replaceAll('{random_hash}', randomHash);
  if (!URL.canParse(filled)) throw new AddressError('is no URL: give it as "wss://host/path"');
  // The WebSocket protocol knows no fragments, and its clients throw at one (RFC 6455, section 3).
  if (filled.includes('#')) throw new AddressError('holds a "#", which no WebSocket address may: remove it');
  const url = new URL(filled);
  const secure = url.protocol === 'wss:' || (url.protocol === 'ws:' && LOOPBACK.test(url.hostname));
  if (!secure) throw new AddressError('is neither wss:// nor on this machine: give it as "wss://host/path"');
  url.searchParams.set('token', token);
  return url.href;
}
