import type { SessionRecord, SessionRegistry } from './sessions.ts';

/** The kind of caller that a secret identifies. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'unknown' }
  | { kind: 'api_key' }
  | { kind: 'jwt' }
  | { kind: 'session'; session: SessionRecord };

export interface KnownKeys {
  readonly apiKeys: readonly string[];
  readonly jwts: readonly string[];
  /** `ClientId` and `ClientSecret` of legacy callers. */
  readonly clients: readonly { readonly id: string; readonly secret: string }[];
}

/** The secret after `Bearer` in an `Authorization` header; null if the header has another form. */
export function bearerOf(header: string | null | undefined): string | null {
  return /^bearer +(\S+)$/i.exec(header?.trim() ?? '')?.[1] ?? null;
}

/** The secret for a stream. `Bearer` may be missing: the specification shows this header without a scheme. */
export function streamSecretOf(header: string | null | undefined): string | null {
  const value = header?.trim() ?? '';
  return bearerOf(value) ?? (/^\S+$/.test(value) && !/^bearer$/i.test(value) ? value : null);
}

/** Identifies the kind of a secret (docs/service.md 5). */
export function identify(secret: string | null, keys: KnownKeys, sessions: SessionRegistry): Credential {
  if (secret === null || secret === '') return { kind: 'none' };
  if (keys.apiKeys.includes(secret)) return { kind: 'api_key' };
  if (keys.jwts.includes(secret)) return { kind: 'jwt' };
  const session = sessions.withToken(secret);
  return session === undefined ? { kind: 'unknown' } : { kind: 'session', session };
}
