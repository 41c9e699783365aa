/** A small HTTP server with scripted answers, for cases that the emulator does not have. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface FakeService {
  readonly url: string;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

export async function startFakeService(
  answer: (seen: Seen, response: ServerResponse) => void,
): Promise<FakeService> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString('latin1') };
      seen.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The error envelope of docs/service.md 2.4. */
export function envelope(status: number, title: string, detail: string, errorCode = 1, type = 'about:blank') {
  return { ok: false, errors: [{ type, status, title, detail, instance: 'req-1', error_code: errorCode }] };
}

export function sessionOf(more: object = {}) {
  return {
    id: 'session-0123456789',
    token: 'session-token-abcdef',
    intent: 's2s',
    connection_type: 'ws',
    single_use: true,
    client_reference_id: 'museum/kiosk/main',
    status: 'pending',
    created_at: '2026-01-01T00:00:00.000Z',
    connect_by: '2026-01-01T00:01:00.000Z',
    first_connected_at: null,
    active_stream_count: 0,
    ...more,
  };
}
