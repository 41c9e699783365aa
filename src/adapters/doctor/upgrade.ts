import { randomBytes } from 'node:crypto';
import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { UpgradeFacts } from '../../core/doctor/connection-rules.ts';
import { codeOf } from './connection.ts';

const WEB_SOCKET_KEY_BYTES = 16;
const RANDOM_HASH_BYTES = 18;

/**
 * Requests a WebSocket without a token, and hangs up on the answer. Never rejects.
 * @param template an address as in grants: `{random_hash}` is filled in, the query is left out
 */
export function askForUpgrade(
  template: string,
  ca: Buffer | undefined,
  limitMs: number,
): Promise<UpgradeFacts> {
  const url = new URL(
    template.replaceAll('{random_hash}', randomBytes(RANDOM_HASH_BYTES).toString('base64url')),
  );
  const isSecure = url.protocol === 'wss:';
  const options = {
    method: 'GET',
    agent: false,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': randomBytes(WEB_SOCKET_KEY_BYTES).toString('base64'),
    },
    ...(isSecure && ca && { ca }),
  };
  const target = `${isSecure ? 'https' : 'http'}://${url.host}${url.pathname}`;
  return new Promise((resolve) => {
    let request: ClientRequest | null = null;
    const settle = (facts: Partial<UpgradeFacts>): void => {
      clearTimeout(timer);
      resolve({ status: null, code: null, date: null, ...facts });
      request?.destroy();
    };
    const timer = setTimeout(() => settle({ code: 'TIMEOUT' }), limitMs);
    const answered = (status: number | undefined, date: string | undefined): void => {
      const parsed = Date.parse(date ?? '');
      settle({ status: status ?? 0, date: Number.isNaN(parsed) ? null : parsed });
    };
    try {
      request = (isSecure ? requestHttps : requestHttp)(target, options);
      request.on('response', (response) => answered(response.statusCode, response.headers.date));
      request.on('upgrade', (response, socket) => {
        answered(response.statusCode, response.headers.date);
        socket.destroy();
      });
      request.on('error', (error) => settle({ code: codeOf(error) }));
      request.end();
    } catch (error) {
      settle({ code: codeOf(error) });
    }
  });
}
