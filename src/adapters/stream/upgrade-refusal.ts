import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { Refused } from '../../ports/stream.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { shownAddress } from '../own-line.ts';
import { readRetryAfter } from '../retry-after.ts';
import { classifyRefusal } from './refusal.ts';
import type { CleanText } from './service-text.ts';

/** Bytes of a refusal's body that are read. */
const LARGEST_BODY_BYTES = 16 * 1024;
/** Timeout for a refusal's body (milliseconds): without a body it still counts as a refusal. */
const BODY_LIMIT_MS = 2000;

/** The error envelope (docs/service.md 2.4), with everything in it optional: a refusal may come from a proxy. */
const bodySchema = z.looseObject({
  errors: z
    .array(
      z.looseObject({
        type: z.string().optional(),
        title: z.string().optional(),
        detail: z.string().optional(),
        reason: z.string().optional(),
        error_code: z.number().optional(),
      }),
    )
    .optional(),
  reason: z.string().optional(),
  title: z.string().optional(),
  detail: z.string().optional(),
  message: z.string().optional(),
  error_code: z.number().optional(),
});

/** Reads the service's answer when it refuses an upgrade. Limited in size and time; an unreadable body is not an error. */
export async function readUpgradeRefusal(response: IncomingMessage, read: CleanText): Promise<Refused> {
  const retryAfterMs = readRetryAfter(response.headers, null);
  const status = response.statusCode ?? 0;
  const body = bodySchema.safeParse(parseJson(await readBody(response)));
  const data = body.success ? body.data : {};
  const first = data.errors?.[0] ?? data;
  const texts = [data.reason, first.reason, first.title, data.errors?.[0]?.type, first.detail, data.message];
  const words = [first.title ?? first.reason ?? data.message, first.detail];
  const errorCode = first.error_code ?? data.error_code ?? null;
  return {
    type: 'refused',
    reason: classifyRefusal({ httpStatus: status, errorCode, texts }),
    status,
    errorCode,
    detail: read(words.filter((text) => text !== undefined).join(': ')) || redirectOf(response, read),
    retryAfterMs,
  };
}

/** The address it redirects to. It is not followed, because a token must not go there. */
function redirectOf({ headers: { location } }: IncomingMessage, read: CleanText): string | null {
  const address = location === undefined ? null : shownAddress(location, 'wss://service');
  return address === null ? null : `it leads to ${read(address.replace('wss://service/', '/'))}`;
}

function readBody(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const done = (): void => {
      clearTimeout(limit);
      resolve(Buffer.concat(parts).toString('utf8'));
    };
    const limit = setTimeout(done, BODY_LIMIT_MS);
    response.on('data', (part: Buffer) => {
      size += part.byteLength;
      if (size <= LARGEST_BODY_BYTES) parts.push(part);
    });
    response.on('end', done);
    response.on('error', done);
    response.on('close', done);
  });
}
