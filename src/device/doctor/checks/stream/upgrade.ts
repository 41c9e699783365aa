import { randomBytes } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { tlsReason } from '../../../../adapters/network/tls-reason.ts';
import { ownLine, shownAddress } from '../../../../adapters/own-line.ts';
import { codeOf } from '../../network/reach.ts';
import type { UpgradeFacts } from './stream-rules.ts';

const WEB_SOCKET_KEY_BYTES = 16;
const RANDOM_HASH_BYTES = 18;

/**
 * Requests a WebSocket without a token, and closes the connection at the answer. Never rejects.
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
  const target = `${isSecure ? 'https' : 'http'}://${url.host}${url.pathname}`;
  return new Promise((resolve) => {
    let request: ClientRequest | null = null;
    const settle = (facts: Partial<UpgradeFacts>): void => {
      clearTimeout(timer);
      resolve({ status: null, code: null, date: null, ...facts });
      request?.destroy();
    };
    const timer = setTimeout(() => settle({ code: 'TIMEOUT' }), limitMs);
    const failed = (error: unknown): void => settle({ code: codeOf(error), words: wordsOf(error) });
    try {
      const options = {
        method: 'GET',
        agent: false,
        headers: upgradeHeaders(),
        ...(isSecure && ca && { ca }),
      };
      request = (isSecure ? requestHttps : requestHttp)(target, options);
      request.on('response', (response) => settle(readResponse(response, target)));
      request.on('upgrade', (response, socket) => {
        settle(readResponse(response, target));
        socket.destroy();
      });
      request.on('error', failed);
      request.end();
    } catch (error) {
      failed(error);
    }
  });
}

function upgradeHeaders(): Record<string, string> {
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(WEB_SOCKET_KEY_BYTES).toString('base64'),
  };
}

function readResponse(
  { statusCode = 0, headers: { date, location } }: IncomingMessage,
  target: string,
): Partial<UpgradeFacts> {
  const parsed = Date.parse(date ?? '');
  return {
    status: statusCode,
    date: Number.isNaN(parsed) ? null : parsed,
    location: location === undefined ? null : (shownAddress(location, target) ?? ownLine(location)),
  };
}

/** OpenSSL's reason, or the message of Node's HTTP parser. */
function wordsOf(error: unknown): string | null {
  return codeOf(error).startsWith('HPE_') && error instanceof Error
    ? ownLine(error.message)
    : tlsReason(error);
}
