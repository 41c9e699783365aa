/** A request to the console as its routes see it, and their answer. */
import type { IncomingHttpHeaders } from 'node:http';

export interface ConsoleRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Address of the browser; behind a trusted proxy, as the proxy reports it. */
  readonly address: string;
  /** `https://name:port` at which the browser knows the console. */
  readonly origin: string;
  readonly isSecure: boolean;
  /** Call it for a person who is signed in: the server then keeps room for this connection. */
  know(): void;
  /** @throws TooLarge */
  body(mostBytes: number): Promise<string>;
}

export class TooLarge extends Error {}

export interface ConsoleAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The connection to a browser that receives events. */
export interface EventSink {
  /** Accepts data even if the reader is slow: check `unread`. */
  write(...parts: readonly Buffer[]): void;
  /** Bytes that the browser has not received yet. */
  readonly unread: number;
  close(): void;
}

/** What happens with a request: it is answered, or becomes a stream of events. */
export type ConsoleOutcome =
  | { readonly kind: 'answer'; readonly answer: ConsoleAnswer }
  /** @param open begins the stream; returns the function to call when the browser has disconnected */
  | { readonly kind: 'stream'; readonly open: (sink: EventSink) => () => void };

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): ConsoleAnswer {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(value), headers };
}
