import { createKnownSecrets } from '../../adapters/known-secrets.ts';
import { AddressError, streamAddress, streamTarget } from '../../core/owner/stream-address.ts';

interface Secret {
  readonly token: string;
  /** The session's id, which can look like a token. */
  readonly session: string;
  readonly urlTemplate: string;
}

/** The only place that holds tokens: in memory, for as long as they may be needed, shown to nobody but the stream. */
export interface TokenStore {
  /**
   * Returns the host that the stream will be opened at, as it may be shown.
   * @throws AddressError when the token must not travel to where the grant says
   */
  keep(grant: string, secret: Secret): string;
  /** The whole address for one connection; null when the token is gone, or must not travel there after all. */
  address(grant: string): string | null;
  forget(grant: string): void;
  /** A text of somebody else's without the tokens that are or were here of late, and with their sessions' ids shortened. */
  hide(text: string): string;
  /** The same for what is said on the connection of a grant, for as long as that lasts, whatever comes meanwhile. */
  hideFor(grant: string): (text: string) => string;
}

/** Of 64 sessions the token and the id are recognised in a text, also when they are over: whoever quotes one quotes one of the last. */
const MOST_KNOWN = 128;

/**
 * @param randomHash a fresh URL-safe string for each connection (docs/service.md 4.7)
 * @param hosts where streams may go; none: anywhere with TLS
 */
export function createTokenStore(randomHash: () => string, hosts: readonly string[]): TokenStore {
  const secrets = new Map<string, Secret>();
  const known = createKnownSecrets(MOST_KNOWN);
  return {
    keep(grant, secret) {
      known.addToken(secret.token);
      known.addSession(secret.session);
      const { host } = streamTarget(secret.urlTemplate, 'check', hosts);
      secrets.set(grant, secret);
      return known.hide(host);
    },
    address(grant) {
      const secret = secrets.get(grant);
      if (secret === undefined) return null;
      try {
        return streamAddress(secret.urlTemplate, secret.token, randomHash(), hosts);
      } catch (error) {
        // A hash in the place of a name can spoil it, or lead to another host than the one that was looked at.
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
