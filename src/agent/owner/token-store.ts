import { AddressError, streamAddress, streamTarget } from '../../core/owner/stream-address.ts';

interface Secret {
  readonly token: string;
  readonly urlTemplate: string;
}

/** The only place that holds tokens: in memory, for as long as they may be needed, shown to nobody but the stream. */
export interface TokenStore {
  /**
   * Returns the host that the stream will be opened at.
   * @throws AddressError when the token must not travel to where the grant says
   */
  keep(grant: string, secret: Secret): string;
  /** The whole address for one connection; null when the token is gone, or must not travel there after all. */
  address(grant: string): string | null;
  forget(grant: string): void;
}

/**
 * @param randomHash a fresh URL-safe string for each connection (docs/service.md 4.7
 * @param hosts where streams may go; none: anywhere with TLS
 */
export function createTokenStore(randomHash: () => string, hosts: readonly string[]): TokenStore {
  const secrets = new Map<string, Secret>();
  return {
    keep(grant, secret) {
      const { host } = streamTarget(secret.urlTemplate, 'check', hosts);
      secrets.set(grant, secret);
      return host;
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
  };
}
