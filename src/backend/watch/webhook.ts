/**
 * Sends messages to the owner's webhook one after the other, so that they arrive in order. They are signed as in "Standard
 * Webhooks" (docs/backend.md), for which receivers have libraries.
 */
import { createHmac } from 'node:crypto';
import { createHttp, NoAnswer } from '../../adapters/network/http-client.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** Waits before each retry (ms). After the last one the message is dropped. */
const WAITS_MS = [1000, 5000, 30_000, 120_000, 600_000];
/** Timeout of the receiver's answer (ms). */
const TIMEOUT_MS = 10_000;
/** Maximum number of waiting messages; the oldest are dropped first. */
export const MOST_WAITING = 1000;
const BASE64_SECRET = 'whsec_';

export interface WebhookParts {
  readonly url: string;
  /** Called for each message, so that a new secret needs no restart. */
  readonly secret: () => string;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: 10 s. */
  readonly timeoutMs?: number;
  readonly counted: (result: 'sent' | 'retried' | 'failed' | 'dropped') => void;
}

export interface Webhook {
  /** Returns at once. @param id the same for each try of a message */
  send(id: string, body: object): void;
  /** Number of waiting messages. */
  readonly waiting: number;
  close(): Promise<void>;
}

interface Message {
  readonly id: string;
  readonly text: string;
}

export function createWebhook(parts: WebhookParts): Webhook {
  const { url, secret, clock, log, counted, timeoutMs = TIMEOUT_MS } = parts;
  const http = createHttp();
  const queue: Message[] = [];
  let isClosed = false;
  let running: Promise<void> | null = null;
  let wake = (): void => {};

  /** Null: accepted. Otherwise what went wrong, without the secret. */
  const attempt = async ({ id, text }: Message): Promise<string | null> => {
    try {
      const at = String(Math.floor((clock.wall() ?? 0) / 1000));
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': at,
        'webhook-signature': `v1,${signatureOf(secret(), id, at, text)}`,
      };
      const { status } = await http.request({
        method: 'POST',
        url,
        headers,
        body: text,
        timeoutMs,
      });
      if (status >= 200 && status < 300) return null;
      return status >= 300 && status < 400
        ? `it redirects (${status}), which is not followed: correct webhook.url`
        : `it answers with status ${status}`;
    } catch (error) {
      if (error instanceof NoAnswer) return error.message;
      return error instanceof Error ? error.message : 'unknown';
    }
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.at(clock.now() + ms, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });

  const deliver = async (message: Message): Promise<void> => {
    for (const waitMs of [...WAITS_MS, null]) {
      const why = await attempt(message);
      if (why === null) return counted('sent');
      if (isClosed) return;
      if (waitMs === null) {
        counted('failed');
        return log.error({ why, id: message.id }, 'gave up on a message to the webhook');
      }
      counted('retried');
      log.warn({ why, id: message.id, retry_ms: waitMs }, 'a message did not reach the webhook');
      await pause(waitMs);
      if (isClosed) return;
    }
  };

  const run = async (): Promise<void> => {
    for (let next = queue[0]; next !== undefined && !isClosed; next = queue[0]) {
      await deliver(next);
      // The message may have been dropped from a full queue meanwhile.
      if (!isClosed && queue[0] === next) queue.shift();
    }
    running = null;
  };

  return {
    send(id, body) {
      if (isClosed) return;
      if (queue.length >= MOST_WAITING) {
        queue.shift();
        counted('dropped');
        log.error({}, 'the queue for the webhook is full: the oldest message was dropped');
      }
      queue.push({ id, text: JSON.stringify(body) });
      running ??= run();
    },
    get waiting() {
      return queue.length;
    },
    /** Messages that are still waiting are not sent. */
    async close() {
      isClosed = true;
      wake();
      http.close();
      await running;
      if (queue.length > 0) log.warn({ messages: queue.length }, 'messages to the webhook were not sent');
    },
  };
}

/** Base64 of the signature, without its version. */
export function signatureOf(secret: string, id: string, at: string, text: string): string {
  const key = secret.startsWith(BASE64_SECRET)
    ? Buffer.from(secret.slice(BASE64_SECRET.length), 'base64')
    : Buffer.from(secret);
  return createHmac('sha256', key).update(`${id}.${at}.${text}`).digest('base64');
}
