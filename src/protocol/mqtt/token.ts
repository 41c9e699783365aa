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
});
export type TokenRequest = z.infer<typeof tokenRequestSchema>;

/** Why a token was denied. `final` denials are only asked again at a slow cadence. */
export const tokenErrorSchema = z.looseObject({
  code: z.string().min(1),
  title: z.string(),
  detail: z.string(),
  final: z.boolean(),
  retry_after_s: z.number().nonnegative().nullish(),
});
export type TokenError = z.infer<typeof tokenErrorSchema>;

/** `{p}/token/res`, backend to device: the session of specification 2.1 and where to open the stream. */
export const tokenGrantSchema = z.looseObject({
  ts: timestampSchema.optional(),
  id: requestIdSchema,
  ok: z.literal(true),
  session: sessionWithTokenSchema,
  stream_url: z.string().min(1),
});

/** A grant by legacy creation (specification 4.3): `ws_url` is used as it stands, `publisher` is the token. */
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
