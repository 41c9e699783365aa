import { createKnownSecrets } from '../../adapters/known-secrets.ts';
import type { StreamTarget } from '../../ports/stream.ts';
import type { Secret } from './answer-rules.ts';
import { AddressError, streamAddress } from './stream-address.ts';

/** The only place for tokens: they stay in memory while they may be needed, and go only to the stream. */
export interface TokenStore {
  /**
   * Returns the stream's host in a form that may be shown.
   * @throws AddressError if the token must not be sent to the host of the grant
   */
  keep(grant: string, secret: Secret): string;
  /** Address and token of one connection; null if the token is gone, or must not be sent to that host. */
  target(grant: string): StreamTarget | null;
  forget(grant: string): void;
  /** Removes present and recent tokens from a foreign text, and shortens their session ids. */
  hide(text: string): string;
  /** `hide` for the callbacks of a grant's connection, during its whole life. */
  hideFor(grant: string): (text: string) => string;
}

/** Number of secrets that are recognised: token and id of the last 64 sessions. Texts quote only recent ones. */
const MOST_KNOWN = 128;

/**
 * @param randomHash a fresh URL-safe string for each connection (docs/service.md 4.7)
 * @param hosts allowed stream hosts; none: any host with TLS
 */
export function createTokenStore(randomHash: () => string, hosts: readonly string[]): TokenStore {
  const secrets = new Map<string, Secret>();
  const known = createKnownSecrets(MOST_KNOWN);
  return {
    keep(grant, secret) {
      known.addToken(secret.token);
      known.addSession(secret.session);
      const { host } = streamAddress(secret.urlTemplate, 'check', hosts);
      secrets.set(grant, secret);
      return known.hide(host);
    },
    target(grant) {
      const secret = secrets.get(grant);
      if (secret === undefined) return null;
      try {
        const { href } = streamAddress(secret.urlTemplate, randomHash(), hosts);
        return { address: href, token: secret.token };
      } catch (error) {
        // A hash in the host name may make it invalid, or lead to a host that was not checked.
        if (error instanceof AddressError) return null;
        throw error;
      }
    },
    forget(grant) {
      secrets.delete(grant);
    },
    hide: known.hide,
    hideFor(grant) {
      const own = createKnownSecrets(2);
      const secret = secrets.get(grant);
      if (secret !== undefined) {
        own.addToken(secret.token);
        own.addSession(secret.session);
      }
      return (text) => known.hide(own.hide(text));
    },
  };
}
