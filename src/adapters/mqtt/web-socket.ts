import { STATUS_CODES } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import { ownLine, shownAddress } from '../own-line.ts';

/** A web server answered the request for a WebSocket with another HTTP status. */
export class UnexpectedAnswer extends Error {
  /** MQTT.js reports only errors with a code. */
  readonly code = 'UNEXPECTED_HTTP_ANSWER';
  readonly status: number;

  /** @param location the redirect target, fit to show; null: none */
  constructor(status: number, location: string | null) {
    const name = STATUS_CODES[status];
    const words = name === undefined ? `HTTP ${status}` : `HTTP ${status} (${name})`;
    super(location === null ? words : `${words}, which leads to ${location}`);
    this.status = status;
  }
}

/** Opens a WebSocket for MQTT.js, which by itself loses the status of a refusal. Redirects are not followed: they could lead anywhere. */
export function openWebSocket(url: string, protocols: string[], options: ClientOptions): WebSocket {
  const socket = new WebSocket(url, protocols, options);
  socket.on('unexpected-response', (request, { statusCode = 0, headers }) => {
    const { location } = headers;
    const target = location === undefined ? null : (shownAddress(location, url) ?? ownLine(location));
    request.destroy(new UnexpectedAnswer(statusCode, target));
  });
  return socket;
}
