import { streamAddress } from '../core/stream-address.ts';

interface Secret {
  readonly token: string;
  readonly urlTemplate: string;
}

/** The only place that holds tokens: in memory, for as long as they may be needed, shown to nobody but the stream. */
export interface Vault {
  /** @throws AddressError when the token could not travel safely to where the grant says */
  keep(grant: string, secret: Secret): void;
  /** The whole address for one connection; null when the token is gone. */
  address(grant: string): string | null;
  forget(grant: string): void;
}

/** @param randomHash a fresh URL-safe string for each connection (specification 4.7) */
export function createVault(randomHash: () => string): Vault {
  const secrets = new Map<string, Secret>();
  return {
    keep(grant, secret) {
      streamAddress(secret.urlTemplate, secret.token, 'check');
      secrets.set(grant, secret);
    },
    address(grant) {
      const secret = secrets.get(grant);
      return secret === undefined ? null : streamAddress(secret.urlTemplate, secret.token, randomHash());
    },
    forget(grant) {
      secrets.delete(grant);
    },
  };
}
