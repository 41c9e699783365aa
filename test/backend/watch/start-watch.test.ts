/** What the watch of a backend does at its start and end, in virtual time. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { startWatch } from '../../../src/backend/watch/watch.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import type { Store } from '../../../src/ports/store.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

/** A watch with a webhook, at a store that has reported that the group "halls" is over its budget. */
function openParts(more: object, sums: Store['sums']) {
  const clock = createVirtualClock();
  const told: string[][] = [];
  const store: Partial<Store> = {
    sums,
    told: async () => new Map([['group halls', 'over_budget']]),
    tell: async (...about) => {
      told.push(about);
      return false;
    },
  };
  const start = () =>
    startWatch({
      config: backendConfigSchema.parse({
        mqtt: { url: 'mqtt://127.0.0.1:1' },
        service: { url: 'http://127.0.0.1:1', streamUrl: 'wss://stream.example' },
        allow: ['museum/*'],
        groups: [{ name: 'halls', members: ['museum/*'], minutesPerMonth: 100 }],
        webhook: { url: 'http://127.0.0.1:1', secretFile: 'secret' },
        ...more,
      }),
      store: store as Store,
      openBus: () => ({ connected: true, close: async () => {} }) as Partial<Bus> as Bus,
      clock,
      log: createLogger({ level: 'trace', format: 'json', sink: { write() {} } }),
      complain: () => {},
      health: {
        isDraining: () => false,
        isConnected: () => true,
        checkStore: async () => {},
        wait: async () => {},
      },
      webhookSecret: () => 'secret',
      families: () => [],
    });
  return { clock, told, start };
}

it('does not take a group for recovered before the ledger is read', async () => {
  const { clock, told, start } = openParts({}, async () => {
    throw new Error('the ledger cannot be read');
  });
  const watch = await start();
  await clock.elapse(300_000);
  expect(told).toEqual([]);
  await watch.close();
  expect(clock.armed).toBe(0);
});

it('reports a group as recovered when a month without streams has begun', async () => {
  const { clock, told, start } = openParts({}, async () => []);
  const watch = await start();
  await clock.elapse(300_000);
  expect(told).toEqual([['group halls', 'fine']]);
  await watch.close();
});

it('leaves nothing running when its address is in use', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const { clock, start } = openParts({ metrics: { listen: `127.0.0.1:${port}` } }, async () => []);
  await expect(start()).rejects.toThrow(/EADDRINUSE/);
  expect(clock.armed).toBe(0);
  await new Promise((resolve) => taken.close(resolve));
});
