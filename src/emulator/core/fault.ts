import * as z from 'zod';
import { isObject } from '../../protocol/common/json.ts';
import { REFUSAL_REASONS } from '../../protocol/service/error.ts';

const ms = z.number().min(0).max(86_400_000);
/** Also accepts absurd values (years). */
const retryAfterS = z.number().int().min(0).max(1_000_000_000);
const times = z.number().int().min(1).max(10_000);

/** Reasons for which a fault can refuse a connection or the creation of a session. */
const reasonSchema = z.enum([
  ...REFUSAL_REASONS,
  'insufficient_balance',
  'account_blocked',
  'unauthorized',
  'forbidden',
  'not_found',
  'rate_limit_exceeded',
  'unavailable',
]);

/** How a refusal reaches the client: at the upgrade, as a message and a close, or as a bare close. */
export const deliverySchema = z.enum(['http', 'message', 'close']);
export type Delivery = z.infer<typeof deliverySchema>;

/** Faults of one stream. */
const STREAM_FAULTS = [
  /** Deletes the session: `session_revoked`, then a close within one heartbeat. `linger`: the socket stays open. */
  z.strictObject({ kind: z.literal('revoke'), linger: z.boolean().optional() }),
  /** Sends `max_duration_reached`, then closes. */
  z.strictObject({ kind: z.literal('max_duration') }),
  /** Resets the socket. */
  z.strictObject({ kind: z.literal('drop') }),
  /** Sends a close frame. */
  z.strictObject({
    kind: z.literal('close'),
    code: z.number().int().min(1000).max(4999).default(1011),
    reason: z.string().max(120).default(''),
  }),
  /** Half-open: the service reads nothing and sends nothing, not even pongs. Without `for_ms` it never ends. */
  z.strictObject({ kind: z.literal('black_hole'), for_ms: ms.optional() }),
  /** The service answers pings and reads everything, but sends nothing else, or only answers to get_task. */
  z.strictObject({
    kind: z.literal('zombie'),
    except: z.enum(['nothing', 'get_task']).default('nothing'),
    for_ms: ms.optional(),
  }),
  /** The service reads slower than the client sends. */
  z.strictObject({
    kind: z.literal('slow_read'),
    bytes_per_s: z.number().int().min(1).default(8000),
    for_ms: ms.optional(),
  }),
  /** Delays every message by `ms` and up to `jitter_ms` more, without reordering. */
  z.strictObject({
    kind: z.literal('delay'),
    ms,
    jitter_ms: ms.default(0),
    for_ms: ms.optional(),
  }),
  /** Sends frames that are not valid messages. */
  z.strictObject({
    kind: z.literal('malformed'),
    form: z
      .enum([
        'not_json',
        'empty',
        'no_type',
        'unknown_type',
        'binary',
        'bad_utf8',
        'bad_frame',
        'wrong_data',
        'bad_base64',
        'deep',
      ])
      .default('not_json'),
    times: times.default(1),
  }),
  /** Sends one text frame of this many bytes. */
  z.strictObject({
    kind: z.literal('oversized'),
    bytes: z.number().int().min(1024).max(64_000_000).default(2_000_000),
  }),
  /** The next sentences end without `last_chunk`. */
  z.strictObject({ kind: z.literal('omit_last_chunk'), times: times.default(1) }),
  /** The speech of the next sentences, in one language or all, is cut off after `ms`, with or without a `last_chunk`. */
  z.strictObject({
    kind: z.literal('cut_speech'),
    ms: z.number().min(0).max(600_000).default(200),
    language: z.string().min(1).max(35).optional(),
    last_chunk: z.boolean().default(false),
    times: times.default(1),
  }),
  /** Sends a `warning` or `error` with this code; the stream continues. */
  z.strictObject({ kind: z.literal('warning'), code: z.string().min(1).max(64) }),
  z.strictObject({ kind: z.literal('error'), code: z.string().min(1).max(64) }),
  /** Sends SERVICE_TIMEOUT, then closes with 1008, as after too long without audio. */
  z.strictObject({ kind: z.literal('service_timeout') }),
] as const;

/** Faults of the account and of HTTP requests. */
const SERVICE_FAULTS = [
  /** Closes streams and refuses new ones, for `for_ms` or until `clear`. */
  z.strictObject({ kind: z.literal('balance_out'), for_ms: ms.optional() }),
  z.strictObject({ kind: z.literal('block_account'), for_ms: ms.optional() }),
  /** Refuses the next connections: as usual for the reason, or with another status, without a body, or with Retry-After. */
  z.strictObject({
    kind: z.literal('refuse'),
    reason: reasonSchema,
    delivery: deliverySchema.optional(),
    status: z.number().int().min(400).max(599).optional(),
    bare: z.boolean().optional(),
    retry_after_s: retryAfterS.optional(),
    times: times.default(1),
  }),
  /** The next upgrades hang for this long. */
  z.strictObject({ kind: z.literal('slow_upgrade'), ms, times: times.default(1) }),
  /** The next HTTP requests fail: with a status, without an answer, with a reset, or with an invalid answer. */
  z.strictObject({
    kind: z.literal('http'),
    route: z.enum(['create', 'sessions', 'legacy', 'voice', 'upload', 'any']).default('create'),
    answer: z.enum(['status', 'timeout', 'reset', 'garbage', 'slow']).default('status'),
    status: z.number().int().min(400).max(599).default(503),
    retry_after_s: retryAfterS.optional(),
    reason: reasonSchema.optional(),
    ms: ms.optional(),
    times: times.default(1),
  }),
  /** Sets a clock skew: the error of all timestamps that the service shows. */
  z.strictObject({ kind: z.literal('clock_skew'), ms: z.number().min(-3.2e12).max(3.2e12) }),
  /** The next uploaded voice samples fail in processing. */
  z.strictObject({ kind: z.literal('voice_failed'), times: times.default(1) }),
  /** Ends all lasting faults and cancels all waiting ones. */
  z.strictObject({ kind: z.literal('clear') }),
] as const;

const STREAM_FAULT_KINDS: ReadonlySet<string> = new Set(
  STREAM_FAULTS.map((schema) => schema.shape.kind.value),
);
const streamFaultSchema = z.discriminatedUnion('kind', STREAM_FAULTS);
export type StreamFault = z.infer<typeof streamFaultSchema>;
const serviceFaultSchema = z.discriminatedUnion('kind', SERVICE_FAULTS);
export type ServiceFault = z.infer<typeof serviceFaultSchema>;
export type Fault = StreamFault | ServiceFault;

/** When a fault happens, and to which stream. */
const ORDER_KEYS = {
  /** A stream's id, the stream opened last, or every stream. */
  stream: z.string().min(1).max(64).default('newest'),
  /** Minimum delay from now. */
  after_ms: ms.default(0),
  /**
   * When the fault happens: at once; while the client's user speaks; while the service sends speech; when a sentence has been spoken in
   * one language and not yet in another; on the next stream that opens; while a task is running.
   */
  when: z
    .enum(['now', 'mid_speech', 'mid_output', 'between_languages', 'next_stream', 'running'])
    .default('now'),
};

const orderSchema = z.object(ORDER_KEYS);
export type FaultOrder = z.infer<typeof orderSchema> & { fault: Fault };

/** A random schedule: until `for_ms`, one of `faults` every `every_ms` (drawn between min and max); the same seed repeats it. */
const scheduleSchema = z.strictObject({
  kind: z.literal('schedule'),
  seed: z.number().int().min(0).default(0),
  every_ms: z.strictObject({ min: ms.min(1), max: ms.min(1) }),
  for_ms: ms,
  faults: z
    .array(z.looseObject({ kind: z.string() }))
    .min(1)
    .max(64),
});
export type FaultSchedule = z.infer<typeof scheduleSchema>;

export type FaultRequest =
  | { kind: 'order'; order: FaultOrder }
  | { kind: 'schedule'; schedule: Omit<FaultSchedule, 'faults'>; orders: FaultOrder[] };

/** A parsed fault request, or its problems. */
export type ParsedFaults = { ok: true; request: FaultRequest } | { ok: false; issues: string[] };

function complain(error: z.ZodError): ParsedFaults {
  return {
    ok: false,
    issues: error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`),
  };
}

function parseOrder(body: unknown): FaultOrder | z.ZodError {
  const order = orderSchema.safeParse(body);
  if (!order.success) return order.error;
  const rest = Object.fromEntries(
    Object.entries(body as Record<string, unknown>).filter(([key]) => !Object.hasOwn(ORDER_KEYS, key)),
  );
  const schema = STREAM_FAULT_KINDS.has(String(rest['kind'])) ? streamFaultSchema : serviceFaultSchema;
  const parsed = schema.safeParse(rest);
  return parsed.success ? { ...order.data, fault: parsed.data } : parsed.error;
}

/**
 * Reads the body of `POST /emulator/faults`: one fault `{"kind", ..., "stream"?, "after_ms"?, "when"?}`
 * (`{"kind":"revoke","when":"mid_speech"}`), or a `schedule` of them.
 */
export function parseFaults(body: unknown): ParsedFaults {
  if (!isObject(body)) {
    return { ok: false, issues: ['body: must be an object with a "kind"'] };
  }
  if (body['kind'] !== 'schedule') {
    const order = parseOrder(body);
    return order instanceof z.ZodError ? complain(order) : { ok: true, request: { kind: 'order', order } };
  }
  const parsed = scheduleSchema.safeParse(body);
  if (!parsed.success) return complain(parsed.error);
  const { faults, ...schedule } = parsed.data;
  const orders: FaultOrder[] = [];
  for (const fault of faults) {
    const order = parseOrder(fault);
    if (order instanceof z.ZodError) return complain(order);
    orders.push(order);
  }
  return { ok: true, request: { kind: 'schedule', schedule, orders } };
}

/** Whether a fault concerns a stream, not the account or HTTP. */
export function isStreamFault(fault: Fault): fault is StreamFault {
  return STREAM_FAULT_KINDS.has(fault.kind);
}
