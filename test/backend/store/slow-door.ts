/** A way to the service that takes a drawn time in each direction, and tells what passes. The service acts even if the asker dies. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const SLOWEST_MS = 400;

export interface Passing {
  made(id: string, reference: string): void;
  gone(id: string): void;
}

/** @param arrived called at the arrival of each request; gets its result */
export async function openSlowDoor(serviceUrl: string, arrived: () => Passing) {
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const passing = arrived();
    const { method = 'GET', url = '/', headers } = request;
    const body = await text(request);
    await sleep(Math.random() * SLOWEST_MS);
    const answer = await fetch(`${serviceUrl}${url}`, {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
      ...(body !== '' && { body }),
    });
    const said = await answer.text();
    if (method === 'POST' && answer.status === 201) {
      const { data } = JSON.parse(said) as { data: { id: string; client_reference_id: string } };
      passing.made(data.id, data.client_reference_id);
    }
    if (method === 'DELETE') passing.gone(url.split('/').at(-1) ?? '');
    await sleep(Math.random() * SLOWEST_MS);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(said);
  };
  const server = createServer((request, response) => {
    // Whoever asked may be dead, and then its connection breaks off.
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
