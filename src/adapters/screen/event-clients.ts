import type { ServerResponse } from 'node:http';
import type { Clock } from '../../ports/clock.ts';
import type { ScreenSource } from '../../ports/screen.ts';
import type { ScreenChange } from '../../protocol/screen.ts';
import { PING_EACH_MS } from '../../protocol/screen-link.ts';

/** Maximum number of pages at a time: a kiosk has one or two. */
export const MOST_CLIENTS = 8;
/** Unread bytes after which a page is dropped; it connects again and gets a snapshot. */
const MOST_UNREAD_BYTES = 256 * 1024;
const RETRY_MS = 1000;

/** The pages that listen: each gets a snapshot, and then numbered changes, as server-sent events. */
export interface EventClients {
  /** False: there are too many already. */
  add(response: ServerResponse): boolean;
  readonly count: number;
  close(): void;
}

export function createEventClients(source: ScreenSource, clock: Clock): EventClients {
  const clients = new Set<ServerResponse>();
  let unwatch: (() => void) | null = null;
  let cancelPing = (): void => {};

  const drop = (client: ServerResponse): void => {
    clients.delete(client);
    client.destroy();
    if (clients.size > 0) return;
    unwatch?.();
    unwatch = null;
    cancelPing();
  };
  const send = (client: ServerResponse, bytes: Buffer): void => {
    client.write(bytes);
    if (client.writableLength > MOST_UNREAD_BYTES) drop(client);
  };
  const sendAll = (text: string): void => {
    // Encoded once, however many pages listen.
    const bytes = Buffer.from(text);
    for (const client of clients) send(client, bytes);
  };
  const ping = (): void => {
    cancelPing = clock.at(clock.now() + PING_EACH_MS, () => {
      sendAll('event: ping\ndata:\n\n');
      if (clients.size > 0) ping();
    });
  };
  const onChange = (change: ScreenChange): void => sendAll(eventText('change', change.seq, change));

  return {
    add(response) {
      if (clients.size >= MOST_CLIENTS) return false;
      // Taken before this page becomes a client: a snapshot may cause a change, which goes to all clients.
      const snapshot = source.snapshot();
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.on('close', () => drop(response));
      response.on('error', () => drop(response));
      clients.add(response);
      if (unwatch === null) {
        unwatch = source.watch(onChange);
        ping();
      }
      send(response, Buffer.from(`retry: ${RETRY_MS}\n${eventText('snapshot', snapshot.seq, snapshot)}`));
      return true;
    },
    get count() {
      return clients.size;
    },
    close() {
      for (const client of clients) drop(client);
    },
  };
}

function eventText(event: 'snapshot' | 'change', id: number, data: object): string {
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}
