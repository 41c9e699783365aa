/** Reads what comes over the bus. Nothing in it is trusted but the topic, which the broker guards. */
import type { BusMessage } from '../ports/bus.ts';
import { parseJson } from '../protocol/json.ts';
import { requestIdSchema } from '../protocol/mqtt/envelope.ts';
import { tokenRequestSchema } from '../protocol/mqtt/token.ts';
import { type DeviceAddress, deviceTopics, tokenRequester } from '../protocol/mqtt/topics.ts';
import type { Ask, Reply } from './core/issue-event.ts';
import type { DeviceName } from './core/policy.ts';

/** A token request has some 200 bytes. */
const LARGEST_REQUEST_CHARS = 8192;
const LARGEST_CORRELATION_BYTES = 1024;
const LONGEST_RESPONSE_TOPIC = 512;

export type ReadRequest =
  | { kind: 'ask'; ask: Ask; foreignReply: boolean }
  | { kind: 'misask'; who: DeviceName; id: string; reply: Reply; detail: string }
  | { kind: 'nothing'; who: DeviceName | null; why: 'topic' | 'retained' | 'oversized' | 'malformed' };

export function readRequest(prefix: string, message: BusMessage): ReadRequest {
  const address = tokenRequester(prefix, message.topic);
  if (address === null) return { kind: 'nothing', who: null, why: 'topic' };
  const who = { tenant: address.tenant, device: address.device };
  // An old request that a broker keeps would be answered at each start of the backend.
  if (message.retain) return { kind: 'nothing', who, why: 'retained' };
  if (message.payload.length > LARGEST_REQUEST_CHARS) return { kind: 'nothing', who, why: 'oversized' };
  const body = parseJson(message.payload);
  const { reply, foreign } = replyFor(address, message);
  const parsed = tokenRequestSchema.safeParse(body);
  if (parsed.success)
    return { kind: 'ask', ask: { who, request: parsed.data, reply }, foreignReply: foreign };

  const id = requestIdSchema.safeParse((body as { id?: unknown } | null | undefined)?.id);
  if (!id.success) return { kind: 'nothing', who, why: 'malformed' };
  const issue = parsed.error.issues[0];
  const detail = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong'}`.slice(0, 200);
  return { kind: 'misask', who, id: id.data, reply, detail };
}

/**
 * Where the answer goes: `{p}/token/res`, or a response topic at or below it. Any other is ignored: below `{p}` lie
 * topics that others read or act on, and a token must not be seen there.
 */
function replyFor(address: DeviceAddress, message: BusMessage): { reply: Reply; foreign: boolean } {
  const { responseTopic, correlationData } = message.properties;
  const own = deviceTopics(address).tokenResponse;
  const isOwn =
    responseTopic !== undefined &&
    (responseTopic === own || responseTopic.startsWith(`${own}/`)) &&
    responseTopic.length <= LONGEST_RESPONSE_TOPIC &&
    !/[+#\0]/.test(responseTopic);
  const correlates = correlationData !== undefined && correlationData.length <= LARGEST_CORRELATION_BYTES;
  return {
    reply: { topic: isOwn ? responseTopic : own, ...(correlates && { correlationData }) },
    foreign: responseTopic !== undefined && !isOwn,
  };
}
