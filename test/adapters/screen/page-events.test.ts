import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { followPage } from '../../../src/adapters/screen/page-events.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { SNAPSHOT } from './fake-source.ts';

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A server that answers each connection with this text. */
async function answer(text: string): Promise<string> {
  server = createServer((_request, response) => void response.write(text)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const BEGIN = `event: snapshot\ndata: ${JSON.stringify(SNAPSHOT)}\n\n`;

describe('following the page', () => {
  it('passes nothing on after its end, also what came with the last event', async () => {
    const url = await answer(`${BEGIN}event: change\ndata: {"level":3}\n\n`);
    const heard: string[] = [];
    await new Promise<void>((resolve) => {
      const end = followPage(url, createSystemClock(), {
        onSnapshot: () => {
          heard.push('snapshot');
          end();
          setImmediate(resolve);
        },
        onChange: () => heard.push('change'),
        onLost: () => heard.push('lost'),
      });
    });
    expect(heard).toEqual(['snapshot']);
  });

  it('counts an agent as lost that has sent nothing for 4 s', async () => {
    const url = await answer(BEGIN);
    const clock = createVirtualClock();
    const heard: string[] = [];
    const end = followPage(url, clock, {
      onSnapshot: () => heard.push('snapshot'),
      onChange: () => heard.push('change'),
      onLost: () => heard.push('lost'),
    });
    await expect.poll(() => heard).toEqual(['snapshot']);
    clock.advance(3999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['snapshot']);
    clock.advance(1);
    await expect.poll(() => heard).toEqual(['snapshot', 'lost']);
    end();
    expect(clock.armed).toBe(0);
  });

  it('counts as lost what is not from the agent', async () => {
    const url = await answer('event: snapshot\ndata: {"level":"loud"}\n\n');
    await new Promise<void>((resolve) => {
      const end = followPage(url, createSystemClock(), {
        onSnapshot: () => expect.unreachable(),
        onChange: () => expect.unreachable(),
        onLost: () => {
          end();
          resolve();
        },
      });
    });
  });
});
