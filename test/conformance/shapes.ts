import { expect } from 'vitest';
import { z } from 'zod';

/*
 * The specification's shapes, written a second time on purpose: the suite must not share a misreading with the tested program.
 * Keys that the specification does not show are allowed.
 */

const isoUtc = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]00:00)$/, 'must be an ISO 8601 UTC timestamp');

const uri = z
  .string()
  .min(1)
  .max(2083)
  .refine((text) => URL.canParse(text), 'must be a URI');

/** 2.4: one error. */
export const errorShape = z.looseObject({
  type: uri,
  status: z.number().int().min(400).max(599),
  title: z.string().min(5),
  detail: z.string().min(5),
  instance: z.string().min(1),
  error_code: z.number(),
});
export type ErrorObject = z.infer<typeof errorShape>;

const errorEnvelopeShape = z.looseObject({ ok: z.literal(false), errors: z.array(errorShape).min(1) });

/** 2.1: a session. Token and listener tokens depend on the operation; the tests of these operations check them. */
export const sessionShape = z.looseObject({
  id: z.string().min(1),
  token: z.string().min(1).optional(),
  intent: z.enum(['s2s', 'stt', 'tts']),
  connection_type: z.enum(['ws', 'webrtc']),
  single_use: z.boolean(),
  client_reference_id: z.string().nullish(),
  status: z.string().min(1),
  created_at: isoUtc,
  connect_by: isoUtc,
  max_session_duration_seconds: z.number().int().nullish(),
  first_connected_at: isoUtc.nullable(),
  active_stream_count: z.number().int().min(0),
  webrtc: z
    .looseObject({
      url: z.string().min(1),
      room_name: z.string().min(1),
      subscriber_keys: z.array(z.unknown()).optional(),
    })
    .optional(),
});
export type SessionObject = z.infer<typeof sessionShape>;
export type TokenSession = SessionObject & { token: string };

/** 2.3: the upload target of one sample. */
export const uploadTargetShape = z.looseObject({
  item_id: z.string().min(1).max(36),
  blob_id: z.string().min(1),
  url: uri,
  form_data: z.record(z.string(), z.unknown()),
});
export type UploadTargetObject = z.infer<typeof uploadTargetShape>;

/** 2.2: a voice. */
export const voiceShape = z.looseObject({
  utc_created_at: z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'must be a date-time'),
  voice_id: z.guid(),
  user_id: z.string(),
  name: z.string(),
  voice_type: z.enum(['instantly_cloned', 'instantly_cloned_builtin']),
  processing_status: z.enum(['created', 'pending', 'ready', 'failed']),
  description: z.string().nullish(),
  labels: z.record(z.string(), z.unknown()).nullish(),
  lang_code: z.string().nullish(),
  samples: z.array(uploadTargetShape),
});
export type VoiceObject = z.infer<typeof voiceShape>;

/** Answer to an HTTP request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
}

/** Expects that `value` has the shape, and shows the answer if not; returns it typed. */
export function expectShape<T extends z.ZodType>(shape: T, value: unknown, what: string): z.infer<T> {
  const result = shape.safeParse(value);
  const issues = result.success
    ? []
    : result.error.issues.map((issue) => `${issue.path.join('.') || '(whole)'}: ${issue.message}`);
  expect(issues, `${what}: ${JSON.stringify(value)?.slice(0, 600)}`).toEqual([]);
  return result.data as z.infer<T>;
}

/** Fails unless the answer is an error with the envelope of 2.4; returns its first error. */
export function expectError(answer: Answer, what: string): ErrorObject {
  expect(answer.status, `${what}: HTTP status of ${answer.text.slice(0, 300)}`).toBeGreaterThanOrEqual(400);
  expect(answer.status, `${what}: HTTP status`).toBeLessThan(600);
  const envelope = expectShape(
    errorEnvelopeShape,
    answer.json ?? answer.text,
    `${what}: error envelope (2.4)`,
  );
  return envelope.errors[0] as ErrorObject;
}

/** Fails unless the request was refused as the caller's fault (4xx) with the envelope of 2.4. */
export function expectRefusal(answer: Answer, what: string): ErrorObject {
  const error = expectError(answer, what);
  expect(answer.status, `${what}: refused as the caller's fault`).toBeLessThan(500);
  return error;
}

/** Fails unless the answer is `{ok: true, data: <shape>}` with this status; returns the data. */
export function expectData<T extends z.ZodType>(
  answer: Answer,
  status: number,
  shape: T,
  what: string,
): z.infer<T> {
  expect(answer.status, `${what}: HTTP status of ${answer.text.slice(0, 300)}`).toBe(status);
  return expectShape(z.looseObject({ ok: z.literal(true), data: shape }), answer.json, what)
    .data as z.infer<T>;
}
