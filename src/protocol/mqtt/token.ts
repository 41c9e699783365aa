import { z } from 'zod';
import {
  connectionTypeSchema,
  intentSchema,
  legacySessionSchema,
  sessionWithTokenSchema,
} from '../service/session.ts';
import { requestIdSchema, timestampSchema } from './envelope.ts';
import { nameSchema } from './topics.ts';

/** Why a device asks for a token. */
export const TOKEN_REASONS = ['start', 'rollover', 'revoked', 'max_duration', 'refused', 'network'] as const;
export const tokenReasonSchema = z.enum(TOKEN_REASONS);
export type TokenReason = z.infer<typeof tokenReasonSchema>;

/** `{p}/token/req`, device to backend. */
export const tokenRequestSchema = z.looseObject({
  ts: timestampSchema.optional(),
  id: requestIdSchema,
  lane: nameSchema,
  intent: intentSchema,
  connection_type: connectionTypeSchema,
  reason: tokenReasonSchema,
  attempt: z.number().int().positive(),
  /**
   * Only a trial: no token is wanted. `service` (or true) goes the whole way, `backend` is answered without asking the
   * service. A backend that does not know it answers as always.
   */
  probe: z.union([z.boolean(), z.enum(['service', 'backend'])]).optional(),
});
export type TokenRequest = z.infer<typeof tokenRequestSchema>;

/** How far a trial goes; null: it is none. */
export function probeKind({ probe }: Pick<TokenRequest, 'probe'>): 'service' | 'backend' | null {
  if (probe === undefined || probe === false) return null;
  return probe === true ? 'service' : probe;
}

/** Why a token was denied. `final` denials are only asked again at a slow cadence. */
export const tokenErrorSchema = z.looseObject({
  code: z.string().min(1),
  title: z.string(),
  detail: z.string(),
  final: z.boolean(),
  retry_after_s: z.number().nonnegative().nullish(),
});
export type TokenError = z.infer<typeof tokenErrorSchema>;

/** `{p}/token/res`, backend to device: the session of docs/service.md 2.1 and where to open the stream. */
export const tokenGrantSchema = z.looseObject({
  ts: timestampSchema.optional(),
  id: requestIdSchema,
  ok: z.literal(true),
  session: sessionWithTokenSchema,
  stream_url: z.string().min(1),
});

/** A grant by legacy creation (docs/service.md 4.3: `ws_url` is used as it stands, `publisher` is the token. */
export const legacyTokenGrantSchema = z.looseObject({
  ts: timestampSchema.optional(),
  id: requestIdSchema,
  ok: z.literal(true),
  session: legacySessionSchema,
});

export const tokenDenialSchema = z.looseObject({
  ts: timestampSchema.optional(),
  id: requestIdSchema,
  ok: z.literal(false),
  error: tokenErrorSchema,
});

export const tokenResponseSchema = z.union([tokenGrantSchema, legacyTokenGrantSchema, tokenDenialSchema]);
export type TokenResponse = z.infer<typeof tokenResponseSchema>;
export type TokenGrantMessage = z.infer<typeof tokenGrantSchema>;

/** The answer to a `probe` that would have been granted. It holds no session and no token. */
export const tokenProbeAnswerSchema = z.looseObject({
  ts: timestampSchema.optional(),
  id: requestIdSchema,
  ok: z.literal(true),
  /** What became of the session that was made for the trial: gone, left to expire because it could not be deleted, or none was. */
  probe: z.looseObject({ session: z.enum(['deleted', 'expires', 'none']) }),
  stream_url: z.string().min(1),
});
export type TokenProbeAnswer = z.infer<typeof tokenProbeAnswerSchema>;

/** The first field that keeps a body from being an answer: its name, never what it holds. */
export function malformedField(body: unknown): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return '(not a JSON object)';
  const { ok, session } = body as { ok?: unknown; session?: unknown };
  const isLegacy = typeof session === 'object' && session !== null && 'ws_url' in session;
  const likely = ok === false ? tokenDenialSchema : isLegacy ? legacyTokenGrantSchema : tokenGrantSchema;
  const [issue] = likely.safeParse(body).error?.issues ?? [];
  return issue?.path.join('.') || '(unknown)';
}
