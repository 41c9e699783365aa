import { request } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { ServerTime } from '../core/time-sources.ts';

const LIMIT_MS = 8000;

/**
 * The time from a server's `Date` header; null when there is none, or the server is unreachable.
 *
 * Without the time, the server's certificate cannot be checked, so anyone on the network path can answer, as with a time server.
 * The request sends no data, and only the time is read from the answer.
 */
export function askServerTime(url: string, limitMs = LIMIT_MS): Promise<ServerTime | null> {
  return new Promise((resolve) => {
    const asked = request(url, {
      method: 'HEAD',
      agent: false,
      timeout: limitMs,
      rejectUnauthorized: false,
    });
    const limit = setTimeout(() => asked.destroy(), limitMs);
    asked.on('response', (response) => {
      const { socket } = response;
      const certificate = socket instanceof TLSSocket ? socket.getPeerCertificate() : null;
      const date = Date.parse(response.headers.date ?? '');
      resolve(
        Number.isNaN(date) || !certificate?.valid_from
          ? null
          : {
              date,
              validFrom: Date.parse(certificate.valid_from),
              validTo: Date.parse(certificate.valid_to),
            },
      );
      response.resume();
      asked.destroy();
    });
    asked.on('error', () => {});
    asked.on('timeout', () => asked.destroy());
    asked.on('close', () => {
      clearTimeout(limit);
      resolve(null);
    });
    asked.end();
  });
}
