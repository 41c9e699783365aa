import * as z from 'zod';

/** One problem as the service reports it over HTTP (docs/service.md 2.4). */
export const serviceErrorSchema = z.object({
  type: z.string().min(1).max(2083),
  status: z.number().int().min(400).max(599),
  title: z.string().min(5),
  detail: z.string().min(5),
  instance: z.string().min(1),
  error_code: z.number(),
});
export type ServiceError = z.infer<typeof serviceErrorSchema>;

/** The body of every HTTP answer that is not a success (docs/service.md 2.4). */
export const errorEnvelopeSchema = z.object({
  ok: z.literal(false),
  errors: z.array(serviceErrorSchema).min(1),
});
export type ErrorEnvelope = z.infer<typeof errorEnvelopeSchema>;

/** Names of refusals by the session rules (docs/service.md 7, column "reason"). */
export const REFUSAL_REASONS = [
  'session_already_used',
  'max_duration_reached',
  'intent_mismatch',
  'connection_type_mismatch',
  'connect_window_expired',
  'session_limit_reached',
  'pending_sessions_limit_reached',
  'session_revoked',
] as const;
export const refusalReasonSchema = z.enum(REFUSAL_REASONS);
export type RefusalReason = z.infer<typeof refusalReasonSchema>;

/**
 * The numbers from docs/service.md 7. Other reasons have no published number or HTTP status, so readers must use the
 * reason and never only the number.
 */
export const PUBLISHED_REFUSALS: Readonly<
  Partial<Record<RefusalReason, { errorCode: number; http: number }>>
> = {
  session_already_used: { errorCode: 202100, http: 409 },
  max_duration_reached: { errorCode: 202102, http: 410 },
};
