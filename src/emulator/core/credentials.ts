import type { SessionRecord, SessionRegistry } from './sessions.ts';

/** Who asks. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'unknown' }
  | { kind: 'api_key' }
  | { kind: 'jwt' }
  | { kind: 'session'; session: SessionRecord };

export interface KnownKeys {
  readonly apiKeys: readonly string[];
  readonly jwts: readonly string[];
  /** What legacy callers send as `ClientId` and `ClientSecret`. */
  readonly clients: readonly { readonly id: string; readonly secret: string }[];
}

/** The secret in an `Authorization` header; with or without the word `Bearer`. */
export function bearerOf(header: string | null | undefined): string | null {
  const value = header?.trim() ?? '';
  const secret = /^bearer(\s|$)/i.test(value) ? value.slice(6).trim() : value;
  return secret === '' ? null : secret;
}

/** Finds out what a secret is (docs/service.md 5. */
export function identify(secret: string | null, keys: KnownKeys, sessions: SessionRegistry): Credential {
  if (secret === null || secret === '') return { kind: 'none' };
  if (keys.apiKeys.includes(secret)) return { kind: 'api_key' };
  if (keys.jwts.includes(secret)) return { kind: 'jwt' };
  const session = sessions.withToken(secret);
  return session === undefined ? { kind: 'unknown' } : { kind: 'session', session };
}
