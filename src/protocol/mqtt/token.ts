import { z } from 'zod';
import { isObject } from '../json.ts';
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
  ts: timestampSchema.optional().describe('when it was sent; null while the clock is not set'),
  id: requestIdSchema.describe('at least 96 random bits; asked again under the same id'),
  lane: nameSchema.describe('the lane that needs it'),
  intent: intentSchema.describe('always `s2s`'),
  connection_type: connectionTypeSchema.describe('always `ws`'),
  reason: tokenReasonSchema.describe('why it is needed'),
  attempt: z.number().int().positive().describe('how often it was asked for under this id'),
  probe: z
    .union([z.boolean(), z.enum(['service', 'backend'])])
    .optional()
    .describe(
      'only a trial, no token is wanted: `service` (or true) goes the whole way, `backend` is answered without asking the service; a backend that does not know it answers as always',
    ),
});
export type TokenRequest = z.infer<typeof tokenRequestSchema>;

/** How far a trial goes; null: it is none. */
export function probeKind({ probe }: Pick<TokenRequest, 'probe'>): 'service' | 'backend' | null {
  if (probe === undefined || probe === false) return null;
  return probe === true ? 'service' : probe;
}

/** Why a token was denied. `final` denials are only asked again at a slow cadence. */
export const tokenErrorSchema = z.looseObject({
  code: z.string().min(1).describe('for programs'),
  title: z.string().describe('for people, short'),
  detail: z.string().describe('for people: what to do'),
  final: z.boolean().describe('true: the device asks again every few minutes only'),
  retry_after_s: z
    .number()
    .nonnegative()
    .nullish()
    .describe('not to be asked again before; counts as 600 at most'),
});
export type TokenError = z.infer<typeof tokenErrorSchema>;

const answer = {
  ts: timestampSchema.optional().describe('when it was sent; not looked at'),
  id: requestIdSchema.describe("the request's id"),
};

/** `{p}/token/res`, backend to device: the session of docs/service.md 2.1 and where to open the stream. */
export const tokenGrantSchema = z.looseObject({
  ...answer,
  ok: z.literal(true),
  session: sessionWithTokenSchema.describe(
    'the session as the service made it, see [service.md](service.md#21-session)',
  ),
  stream_url: z
    .string()
    .min(1)
    .describe(
      'where to open the stream: `wss://...`, with `{random_hash}` for a fresh string; never with the token',
    ),
});

/** A grant by legacy creation (docs/service.md 4.3): `ws_url` is used as it stands, `publisher` is the token. */
export const legacyTokenGrantSchema = z.looseObject({
  ...answer,
  ok: z.literal(true),
  session: legacySessionSchema.describe(
    'with `ws_url` and `publisher`, see [service.md](service.md#43-legacy-creation)',
  ),
});

export const tokenDenialSchema = z.looseObject({
  ...answer,
  ok: z.literal(false),
  error: tokenErrorSchema,
});

export const tokenResponseSchema = z.union([tokenGrantSchema, legacyTokenGrantSchema, tokenDenialSchema]);
export type TokenResponse = z.infer<typeof tokenResponseSchema>;
export type TokenGrantMessage = z.infer<typeof tokenGrantSchema>;

/** The answer to a `probe` that would have been granted. It holds no session and no token. */
export const tokenProbeAnswerSchema = z.looseObject({
  ...answer,
  ok: z.literal(true),
  probe: z.looseObject({
    session: z
      .enum(['deleted', 'expires', 'none'])
      .describe('what became of the session made for the trial: gone, left to expire, or none was made'),
  }),
  stream_url: z.string().min(1).describe('where a stream would be opened'),
});
export type TokenProbeAnswer = z.infer<typeof tokenProbeAnswerSchema>;

/** The first field that keeps a body from being an answer: its name, never what it holds. */
export function malformedField(body: unknown): string {
  if (!isObject(body)) return '(not a JSON object)';
  const { ok, session } = body;
  const isLegacy = isObject(session) && 'ws_url' in session;
  const likely = ok === false ? tokenDenialSchema : isLegacy ? legacyTokenGrantSchema : tokenGrantSchema;
  const [issue] = likely.safeParse(body).error?.issues ?? [];
  return issue?.path.join('.') || '(unknown)';
}
