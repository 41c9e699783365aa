/** A flood of one device costs the backend no more than its topics, in virtual time. */
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { IssuerRunner } from '../../../src/backend/issuing/issuer-runner.ts';
import { createTokenCounts } from '../../../src/backend/issuing/token-counts.ts';
import type { ServiceClient } from '../../../src/backend/service/service-client.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { backendConfigSchema, MEMORY_STORE } from '../../../src/protocol/backend-config.ts';
import type { EndedStream } from '../../../src/protocol/mqtt/token.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const LIMITS = { burst: 2, perMinute: 6 };

function openRunner() {
  const clock = createVirtualClock();
  const lines: string[] = [];
  const read: string[] = [];
  const published: { topic: string; body: unknown }[] = [];
  const reported: { device: string; ended: readonly EndedStream[]; confirm: () => void }[] = [];
  const store = createSqlStore(createSqliteEngine(MEMORY_STORE));
  const runner = new IssuerRunner({
    config: backendConfigSchema.parse({
      mqtt: { url: 'mqtts://broker.example' },
      service: { url: 'https://api.example', streamUrl: 'wss://stream.example' },
      allow: ['museum/*'],
      limits: LIMITS,
    }),
    service: {} as ServiceClient,
    store,
    instance: 'a',
    signer: null,
    clock,
    log: createLogger({ level: 'warn', format: 'json', sink: { write: (line) => void lines.push(line) } }),
    random: () => 0.5,
    closeWithinMs: 1000,
    counts: createTokenCounts(),
    reports: { repeat: (device, ended, confirm) => void reported.push({ device, ended, confirm }) },
  });
  runner.answerOn({
    connected: true,
    outbox: { depth: 0, dropped: 0 },
    publish: (topic, payload) => void published.push({ topic, body: JSON.parse(payload) }),
    urgent() {},
    reconnect() {},
    close: () => Promise.resolve(),
  });
  /** A check of the backend, which needs neither store nor service. */
  const send = (device: string, more: object = {}, tenant = 'museum'): void => {
    const request = { lane: 'main', intent: 's2s', connection_type: 'ws', reason: 'start', attempt: 1 };
    const payload = JSON.stringify({ id: 'r1', ...request, probe: 'backend', ...more });
    runner.hear({
      topic: `dragoman/v1/${tenant}/${device}/token/req`,
      get payload() {
        read.push(device);
        return payload;
      },
      retain: false,
      properties: {},
    });
  };
  const readOf = (device: string): number => read.filter((one) => one === device).length;
  const close = async (): Promise<void> => {
    const closing = runner.close();
    await clock.elapse(1000);
    await closing;
    await store.close();
  };
  return { clock, lines, published, reported, send, readOf, close };
}

it('reads no request of a device beyond sixteen times the limit, and every one of the others', async () => {
  const { clock, lines, published, send, readOf, close } = openRunner();
  for (let count = 0; count < 5000; count += 1) send('hostile');
  expect(readOf('hostile')).toBe(16 * LIMITS.burst);
  for (let count = 0; count < 6; count += 1) send('honest');
  expect(readOf('honest')).toBe(6);
  expect(published.filter(({ topic }) => topic.includes('/honest/'))).toHaveLength(6);
  expect(lines.filter((line) => line.includes('too many requests from one device'))).toHaveLength(1);
  clock.advance(60_000);
  for (let count = 0; count < 5000; count += 1) send('hostile');
  expect(readOf('hostile')).toBe(2 * 16 * LIMITS.burst);
  clock.advance(10_000);
  for (let count = 0; count < 5000; count += 1) send('hostile');
  expect(readOf('hostile')).toBe(2 * 16 * LIMITS.burst + 16);
  await close();
});

it('confirms the ended streams of a request when they are written', async () => {
  const { published, reported, send, close } = openRunner();
  const ended = [{ lane: 'main', session: 'abc...', live_ms: 5 }];
  send('kiosk', { ended });
  send('kiosk', { id: 'r2', ended: [] });
  expect(reported).toMatchObject([{ device: 'museum/kiosk', ended }]);
  const topic = 'dragoman/v1/museum/kiosk/token/res';
  // The answer has not waited.
  expect(published).toMatchObject([
    { topic, body: { ok: true } },
    { topic, body: { ok: true } },
  ]);
  reported[0]?.confirm();
  expect(published.slice(2)).toEqual([
    { topic, body: { ts: expect.any(String), id: 'r1', recorded: ['abc...'] } },
  ]);
  await close();
});

it('denies a request whose ended streams cannot be read, and names the field', async () => {
  const { published, reported, send, close } = openRunner();
  for (const wrong of [{ live_ms: -1 }, { session: 'a\0' }, { lane: 'A B' }])
    send('kiosk', { ended: [{ lane: 'main', session: 'abc...', live_ms: 5, ...wrong }] });
  send('kiosk', { ended: Array(9).fill({ lane: 'main', session: 'abc...', live_ms: 5 }) });
  expect(reported).toEqual([]);
  const details = published.map(({ body }) => (body as { error: { detail: string } }).error.detail);
  expect(details.map((detail) => detail.split(':')[0])).toEqual([
    'ended.0.live_ms',
    'ended.0.session',
    'ended.0.lane',
    'ended',
  ]);
  await close();
});

it('logs a denial of a device once a minute and for each code, with the number of the others', async () => {
  const { clock, lines, published, send, close } = openRunner();
  for (let second = 0; second < 120; second += 1) {
    send('hostile', { id: `r${second}`, attempt: 0 });
    send('foreign', { id: `r${second}` }, 'another-tenant');
    clock.advance(1000);
  }
  expect(published.length).toBeGreaterThan(50);
  const denied = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'denied');
  expect(denied.map(({ device, code }) => [device, code])).toEqual([
    ['museum/hostile', 'invalid_request'],
    ['another-tenant/foreign', 'device_not_allowed'],
    ['museum/hostile', 'invalid_request'],
    ['another-tenant/foreign', 'device_not_allowed'],
  ]);
  expect(denied[2].more).toBeGreaterThan(10);
  await close();
});
