import * as z from 'zod';
import { isObject } from '../common/json.ts';
import {
  connectionTypeSchema,
  intentSchema,
  legacySessionSchema,
  sessionWithTokenSchema,
} from '../service/session.ts';
import { milliseconds, word } from './bounds.ts';
import { requestIdSchema, timestampSchema } from './envelope.ts';
import { nameSchema } from './topics.ts';

/** Reasons for a token request. */
export const TOKEN_REASONS = ['start', 'rollover', 'revoked', 'max_duration', 'refused', 'network'] as const;
/** Maximum number of attempts, which a device with an attempt every second reaches after 30 years. */
const MOST_ATTEMPTS = 1e9;
export const tokenReasonSchema = z.enum(TOKEN_REASONS);
export type TokenReason = z.infer<typeof tokenReasonSchema>;

/** Maximum number of ended streams in one request. */
export const MOST_ENDED = 8;
export const endedStreamSchema = z.object({
  lane: nameSchema.describe('its lane'),
  session: word.describe('id of its session, shortened as in `session_ended`'),
  live_ms: milliseconds.describe('how long it was live, milliseconds'),
});
/** An ended stream. The event that reported it may have been lost. */
export type EndedStream = z.infer<typeof endedStreamSchema>;

/** `{p}/token/req`, device to backend. */
export const tokenRequestSchema = z.looseObject({
  ts: timestampSchema.optional().describe('time of sending; null while the clock is not set'),
  id: requestIdSchema.describe('at least 96 random bits; a retry uses the same id'),
  lane: nameSchema.describe('lane that needs the token'),
  intent: intentSchema.describe('always `s2s`'),
  connection_type: connectionTypeSchema.describe('always `ws`'),
  reason: tokenReasonSchema.describe('reason for the request'),
  attempt: z.int().min(1).max(MOST_ATTEMPTS).describe('number of this attempt under this id, from 1'),
  probe: z
    .union([z.boolean(), z.enum(['service', 'backend'])])
    .optional()
    .describe(
      'a test request that needs no token: `service` (or true) includes the service, `backend` does not; a backend without this feature answers with a token',
    ),
  ended: z
    .array(endedStreamSchema)
    .max(MOST_ENDED)
    .optional()
    .describe(
      `streams that have ended, at most ${MOST_ENDED}, oldest first; each is repeated with every request until it is in \`recorded\`, for 66 hours at most`,
    ),
});
export type TokenRequest = z.infer<typeof tokenRequestSchema>;

/** Scope of a test request; null: it is a real request. */
export function probeKind({ probe }: Pick<TokenRequest, 'probe'>): 'service' | 'backend' | null {
  if (probe === undefined || probe === false) return null;
  return probe === true ? 'service' : probe;
}

/** Reason for a denial. After a `final` denial the device retries slowly. */
export const tokenErrorSchema = z.looseObject({
  code: z.string().min(1).describe('for programs'),
  title: z.string().describe('for people, short'),
  detail: z.string().describe('for people: how to fix it'),
  final: z.boolean().describe('true: the device retries only every few minutes'),
  retry_after_s: z
    .number()
    .nonnegative()
    .nullish()
    .describe('minimum seconds before a retry; values above 600 count as 600'),
});
export type TokenError = z.infer<typeof tokenErrorSchema>;

const answer = {
  ts: timestampSchema.optional().describe('time of sending; ignored'),
  id: requestIdSchema.describe("the request's id"),
};

/** `{p}/token/res`, backend to device: the session of docs/service.md 2.1 and where to open the stream. */
export const tokenGrantSchema = z.looseObject({
  ...answer,
  ok: z.literal(true),
  session: sessionWithTokenSchema.describe(
    'the session as created by the service, see [service.md](service.md#21-session)',
  ),
  stream_url: z
    .string()
    .min(1)
    .describe(
      'address of the stream: `wss://...`; the device replaces `{random_hash}` by a random string; never contains the token',
    ),
});

/** A grant by legacy creation (docs/service.md 4.3): `ws_url` is used unchanged, `publisher` is the token. */
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

/** The positive answer to a `probe`, without session and token. */
export const tokenProbeAnswerSchema = z.looseObject({
  ...answer,
  ok: z.literal(true),
  probe: z.looseObject({
    session: z
      .enum(['deleted', 'expires', 'none'])
      .describe('the session of the test request: deleted, left to expire, or never created'),
  }),
  stream_url: z.string().min(1).describe('address at which a stream would open'),
});
export type TokenProbeAnswer = z.infer<typeof tokenProbeAnswerSchema>;

/** A second answer to a request with `ended`: these streams are in the ledger. Not sent for a request without `ended`. */
export const endsRecordedSchema = z.looseObject({
  ...answer,
  recorded: z
    .array(word)
    .max(MOST_ENDED)
    .describe('sessions, as in the request, whose ends need no further report'),
});
export type EndsRecorded = z.infer<typeof endsRecordedSchema>;

/** Name of the first invalid field of an answer, without its value. */
export function malformedField(body: unknown): string {
  if (!isObject(body)) return '(not a JSON object)';
  const { ok, session } = body;
  const isLegacy = isObject(session) && 'ws_url' in session;
  const likely = ok === false ? tokenDenialSchema : isLegacy ? legacyTokenGrantSchema : tokenGrantSchema;
  const [issue] = likely.safeParse(body).error?.issues ?? [];
  return issue?.path.join('.') || '(unknown)';
}
