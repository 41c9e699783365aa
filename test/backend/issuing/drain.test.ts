/** The end of a backend whose service hangs, in virtual time. */
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { IssuerRunner } from '../../../src/backend/issuing/issuer-runner.ts';
import { createTokenCounts } from '../../../src/backend/issuing/token-counts.ts';
import type { ServiceClient } from '../../../src/backend/service/service-client.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import type { Bus, RequestProperties } from '../../../src/ports/bus.ts';
import type { Store } from '../../../src/ports/store.ts';
import { backendConfigSchema, MEMORY_STORE } from '../../../src/protocol/backend-config.ts';
import { until } from '../../until.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const CLOSE_WITHIN_MS = 4000;

/** A backend at a service that answers nothing. */
function openRunner(more: Partial<Store> = {}) {
  const asked: string[] = [];
  const hangs = (what: string) => () => {
    asked.push(what);
    return new Promise<never>(() => {});
  };
  const clock = createVirtualClock();
  const service = { createSession: hangs('create'), listSessions: hangs('list') } as Partial<ServiceClient>;
  const store = createSqlStore(createSqliteEngine(MEMORY_STORE));
  const runner = new IssuerRunner({
    config: backendConfigSchema.parse({
      mqtt: { url: 'mqtts://broker.example' },
      service: { url: 'https://api.example', streamUrl: 'wss://stream.example' },
      allow: ['museum/*'],
    }),
    service: service as ServiceClient,
    store: { ...store, ...more },
    instance: 'a',
    signer: null,
    clock,
    log: createLogger({ level: 'trace', format: 'json', sink: { write() {} } }),
    random: () => 0.5,
    closeWithinMs: CLOSE_WITHIN_MS,
    counts: createTokenCounts(),
    reports: { repeat() {} },
  });
  const ask = (device: string, tenant = 'museum', properties: RequestProperties = {}): void => {
    const request = { lane: 'main', intent: 's2s', connection_type: 'ws', reason: 'start', attempt: 1 };
    runner.hear({
      topic: `dragoman/v1/${tenant}/${device}/token/req`,
      payload: JSON.stringify({ id: 'r1', ...request }),
      retain: false,
      properties,
    });
  };
  return { runner, clock, asked, store, ask };
}

async function closeOf({ runner, clock }: ReturnType<typeof openRunner>) {
  const state = { closed: false };
  const closing = runner.close().then(() => {
    state.closed = true;
  });
  await clock.elapse(CLOSE_WITHIN_MS - 1);
  const isEarly = state.closed;
  await clock.elapse(1);
  await closing;
  // Nothing goes on afterwards.
  await clock.elapse(60_000);
  return { isEarly, armed: clock.armed };
}

it('ends in time when the service does not answer a request', async () => {
  const world = openRunner();
  world.ask('kiosk');
  await until(() => world.asked.includes('create'), 'the creation');
  expect(await closeOf(world)).toEqual({ isEarly: false, armed: 0 });
  await world.store.close();
});

it('begins no waiting request after its end', async () => {
  const world = openRunner();
  // Five sessions a second: the sixth request waits.
  for (let kiosk = 1; kiosk <= 6; kiosk += 1) world.ask(`kiosk-${kiosk}`);
  await until(() => world.asked.length === 5, 'five creations');
  expect(await closeOf(world)).toEqual({ isEarly: false, armed: 0 });
  expect(world.asked).toEqual(Array(5).fill('create'));
  await world.store.close();
});

it('answers with a message that the broker neither keeps nor queues, and drops when the device has given up', async () => {
  const world = openRunner();
  const published: unknown[] = [];
  const publish = (...message: unknown[]) => void published.push(message);
  world.runner.answerOn({ publish } as Partial<Bus> as Bus);
  const correlationData = Buffer.from('7');
  world.ask('kiosk', 'strangers', { correlationData });
  expect(published).toEqual([
    [
      'dragoman/v1/strangers/kiosk/token/res',
      expect.stringContaining('device_not_allowed'),
      { qos: 0, properties: { expiryS: 30, correlationData } },
    ],
  ]);
  await closeOf(world);
  await world.store.close();
});

it('ends in time when the service does not list the sessions of a backend that died', async () => {
  const world = openRunner({
    takeAbandoned: async () => [{ device: 'museum/kiosk', lane: 'main', request: 'r1' }],
  });
  await world.clock.elapse(10_000);
  expect(world.asked).toEqual(['list']);
  expect(await closeOf(world)).toEqual({ isEarly: false, armed: 0 });
  await world.store.close();
});
