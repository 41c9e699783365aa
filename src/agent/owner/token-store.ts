import { REDACTED } from '../../adapters/redaction.ts';
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
  /** A text of somebody else's without the tokens that are or were here of late. */
  hide(text: string): string;
}

/** Tokens that are recognised in a text after they are forgotten: whoever quotes one quotes one of the last. */
const MOST_FORGOTTEN = 64;
/** What is shorter is no token, and would take words apart. */
const LEAST_TOKEN_CHARS = 6;

/**
 * @param randomHash a fresh URL-safe string for each connection (docs/service.md 4.7)
 * @param hosts where streams may go; none: anywhere with TLS
 */
export function createTokenStore(randomHash: () => string, hosts: readonly string[]): TokenStore {
  const secrets = new Map<string, Secret>();
  let forgotten: readonly string[] = [];
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
      const token = secrets.get(grant)?.token;
      if (token !== undefined) forgotten = [...forgotten, token].slice(-MOST_FORGOTTEN);
      secrets.delete(grant);
    },
    hide(text) {
      const tokens = [...forgotten, ...[...secrets.values()].map(({ token }) => token)];
      return hideAll(text, tokens);
    },
  };
}

/** A text without any of these secrets, however it goes on behind them. */
export function hideAll(text: string, secrets: readonly string[]): string {
  // A longer one may begin as a shorter one does.
  const known = secrets.filter(({ length }) => length >= LEAST_TOKEN_CHARS);
  return known
    .toSorted((a, b) => b.length - a.length)
    .reduce((safe, secret) => safe.replaceAll(secret, REDACTED), text);
}
