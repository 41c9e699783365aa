import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Answer } from './shapes.ts';
import { parseJson, WAIT_MS } from './stream.ts';

/** A hand-written WebSocket upgrade request, for requests that a correct client never sends. */
export interface Handshake {
  readonly method?: string;
  /** The unchanged request target. */
  readonly target: string;
  /** Replaces headers of a proper handshake. */
  readonly headers?: Record<string, string>;
}

/** Sends it and reads the HTTP answer; fails if the service upgrades or drops the connection unanswered. */
export function shake(streaming: string, { method = 'GET', target, headers }: Handshake): Promise<Answer> {
  const { protocol, hostname, port } = new URL(streaming);
  const request = protocol === 'wss:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request({
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      method,
      path: target,
      agent: false,
      timeout: WAIT_MS,
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      },
    });
    sent.once('error', reject);
    sent.once('timeout', () => sent.destroy(new Error(`no answer to the upgrade of ${target}`)));
    sent.once('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error(`${target.replace(/token=.*/, '')} was upgraded`));
    });
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: new Headers(), text, json: parseJson(text) });
      });
    });
    sent.end();
  });
}
