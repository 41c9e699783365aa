import * as z from 'zod';

/** Allowed use of a token (docs/service.md 1). */
export const intentSchema = z.enum(['s2s', 'stt', 'tts']);
export type Intent = z.infer<typeof intentSchema>;

/** The transport a token is bound to (docs/service.md 1). */
export const connectionTypeSchema = z.enum(['ws', 'webrtc']);
export type ConnectionType = z.infer<typeof connectionTypeSchema>;

/** Limits of docs/service.md 4.1 and 8, in seconds unless the name says otherwise. */
export const SESSION_LIMITS = {
  expiresIn: { min: 60, max: 86_400, default: 3600 },
  maxDuration: { min: 60, max: 18_000 },
  clientReferenceIdChars: 256,
  subscriberCount: { min: 0, max: 100 },
} as const;

/** The caller's label of a user or device. The limit counts characters, not UTF-16 units. */
export const clientReferenceIdSchema = z
  .string()
  .refine((text) => [...text].length <= SESSION_LIMITS.clientReferenceIdChars, {
    error: `must be at most ${SESSION_LIMITS.clientReferenceIdChars} characters long`,
  });

export const subscriberCountSchema = z
  .number()
  .int()
  .min(SESSION_LIMITS.subscriberCount.min)
  .max(SESSION_LIMITS.subscriberCount.max);

/** Body of `POST {base_url}/session-storage/v2/sessions` (docs/service.md 4.1). */
export const createSessionRequestSchema = z
  .object({
    intent: intentSchema,
    connection_type: connectionTypeSchema.default('ws'),
    expires_in_seconds: z
      .number()
      .int()
      .min(SESSION_LIMITS.expiresIn.min)
      .max(SESSION_LIMITS.expiresIn.max)
      .default(SESSION_LIMITS.expiresIn.default),
    max_session_duration_seconds: z
      .number()
      .int()
      .min(SESSION_LIMITS.maxDuration.min)
      .max(SESSION_LIMITS.maxDuration.max)
      .optional(),
    single_use: z.boolean().default(false),
    client_reference_id: clientReferenceIdSchema.optional(),
    subscriber_count: subscriberCountSchema.optional(),
  })
  .superRefine((body, context) => {
    if (body.connection_type === 'webrtc' && body.intent !== 's2s') {
      context.addIssue({
        code: 'custom',
        path: ['connection_type'],
        message: 'webrtc is only possible with intent s2s',
      });
    }
    if (body.subscriber_count !== undefined && body.connection_type !== 'webrtc') {
      context.addIssue({
        code: 'custom',
        path: ['subscriber_count'],
        message: 'listener tokens are only possible with connection_type webrtc',
      });
    }
  });
export type CreateSessionRequest = z.infer<typeof createSessionRequestSchema>;
/** The body as the caller gives it, before defaults are filled in. */
export type CreateSessionInput = z.input<typeof createSessionRequestSchema>;

/** The `webrtc` part of a session (docs/service.md 2.1). The element shape of `subscriber_keys` is not specified. */
export const webrtcSchema = z.looseObject({
  url: z.string(),
  room_name: z.string(),
  subscriber_keys: z.array(z.unknown()).optional(),
});

/** Maximum length of a token (characters): real ones are far shorter, and servers refuse longer addresses. */
const LONGEST_TOKEN = 8192;
const LONGEST_ID = 512;

const tokenSchema = z.string().min(1).max(LONGEST_TOKEN);
const sessionIdSchema = z.string().min(1).max(LONGEST_ID);

/**
 * A temporary session (docs/service.md 2.1), read leniently: unknown keys pass, and fields whose
 * absence the specification allows may be missing. Only the answers to create and get-by-id contain `token`.
 */
export const sessionSchema = z.looseObject({
  id: sessionIdSchema,
  token: tokenSchema.optional(),
  intent: intentSchema,
  connection_type: connectionTypeSchema,
  single_use: z.boolean(),
  client_reference_id: z.string().nullish(),
  status: z.string(),
  created_at: z.iso.datetime({ offset: true }),
  connect_by: z.iso.datetime({ offset: true }),
  max_session_duration_seconds: z.number().int().positive().nullish(),
  first_connected_at: z.iso.datetime({ offset: true }).nullish(),
  active_stream_count: z.number().int().nonnegative().optional(),
  webrtc: webrtcSchema.optional(),
});
export type Session = z.infer<typeof sessionSchema>;

/** A session whose token is present: the answer to create and to get-by-id. */
export const sessionWithTokenSchema = sessionSchema.extend({ token: tokenSchema });
export type SessionWithToken = z.infer<typeof sessionWithTokenSchema>;

/** The success envelope of docs/service.md 2.1. */
export function successEnvelope<T extends z.ZodType>(data: T) {
  return z.object({ ok: z.literal(true), data });
}

/** Answer to legacy creation, `POST {base_url}/session-storage/session` (docs/service.md 4.3; shape known from public clients). */
export const legacySessionSchema = z.looseObject({
  id: sessionIdSchema,
  publisher: tokenSchema,
  subscriber: z.array(z.string()).default([]),
  webrtc_room_name: z.string().nullish(),
  webrtc_url: z.string().nullish(),
  ws_url: z.string().min(1),
});
export type LegacySession = z.infer<typeof legacySessionSchema>;

/** HTTP paths below `{base_url}`; the ones the specification leaves open (4.2) follow the pattern of 4.1. */
export const SESSION_PATHS = {
  sessions: '/session-storage/v2/sessions',
  session: (id: string) => `/session-storage/v2/sessions/${encodeURIComponent(id)}`,
  legacyCreate: '/session-storage/session',
  legacySessions: '/session-storage/sessions',
} as const;
