/** Reads messages from the bus. Only the topic is trusted, because the broker guards it. */

import { limitDevices } from '../../machine/limit-devices.ts';
import type { Complain } from '../../machine/limited-warnings.ts';
import type { BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { requestIdSchema } from '../../protocol/mqtt/envelope.ts';
import { tokenRequestSchema } from '../../protocol/mqtt/token.ts';
import { type DeviceAddress, deviceTopics, tokenRequester } from '../../protocol/mqtt/topics.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import type { Ask, Reply } from './issue-event.ts';

/** Largest request that is read (bytes); a normal one has about 200, and up to 3,000 with ended streams. */
export const LARGEST_REQUEST_BYTES = 8192;
const LARGEST_CORRELATION_BYTES = 1024;
const LONGEST_RESPONSE_TOPIC = 512;
/**
 * Requests of a device that are read, as a multiple of the allowed rate: more than are ever answered, including trials. Beyond
 * this limit only the topic is read.
 */
const READ_PER_REQUEST = 16;

export type ReadRequest =
  | { kind: 'ask'; ask: Ask; foreignReply: boolean }
  | { kind: 'invalid'; who: DeviceName; id: string; reply: Reply; detail: string }
  | { kind: 'nothing'; who: DeviceName | null; why: 'topic' | 'retained' | 'malformed' };

export function readRequest(prefix: string, message: BusMessage): ReadRequest {
  const address = tokenRequester(prefix, message.topic);
  if (address === null) return { kind: 'nothing', who: null, why: 'topic' };
  const who = { tenant: address.tenant, device: address.device };
  // The backend would answer a retained request at each start.
  if (message.retain) return { kind: 'nothing', who, why: 'retained' };
  const body = parseJson(message.payload);
  const { reply, foreign } = replyFor(address, message);
  const parsed = tokenRequestSchema.safeParse(body);
  if (parsed.success)
    return { kind: 'ask', ask: { who, request: parsed.data, reply }, foreignReply: foreign };

  const id = requestIdSchema.safeParse((body as { id?: unknown } | null | undefined)?.id);
  if (!id.success) return { kind: 'nothing', who, why: 'malformed' };
  const issue = parsed.error.issues[0];
  const detail = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong'}`.slice(0, 200);
  return { kind: 'invalid', who, id: id.data, reply, detail };
}

/** Null: the message gets no answer. The log says why, at most once a minute for each device. */
export type RequestReader = (message: BusMessage) => Exclude<ReadRequest, { kind: 'nothing' }> | null;

/** Reads the requests of all devices, and drops floods. */
export function createRequestReader(
  { mqtt: { prefix }, limits }: Pick<BackendConfig, 'mqtt' | 'limits'>,
  clock: Clock,
  complain: Complain,
): RequestReader {
  const isUnread = limitDevices(clock, {
    burst: limits.burst * READ_PER_REQUEST,
    perMinute: limits.perMinute * READ_PER_REQUEST,
  });
  return (message) => {
    const sender = tokenRequester(prefix, message.topic);
    const device = sender === null ? 'unknown' : `${sender.tenant}/${sender.device}`;
    if (sender !== null && isUnread(device)) {
      complainOfFlood(device, complain);
      return null;
    }
    const read = readRequest(prefix, message);
    if (read.kind === 'nothing') {
      complain(`${read.why} ${device}`, { device, why: read.why }, 'message ignored: not a token request');
      return null;
    }
    if (read.kind === 'ask' && read.foreignReply)
      complain(`reply ${device}`, { device }, 'response topic ignored: it is outside token/res');
    return read;
  };
}

export function complainOfFlood(device: string, complain: Complain): void {
  const sentence =
    'too many requests from one device, or from all new devices together; further ones get no answer';
  complain(`flood ${device}`, { device, why: 'flood' }, sentence);
}

/**
 * The topic of the answer: `{p}/token/res`, or the response topic if it is at or below that. Other response topics are
 * ignored: other clients may read them, and must not see a token.
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
