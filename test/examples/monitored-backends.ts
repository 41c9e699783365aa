/** Backends whose metrics a test reads, each with a device that is fine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect } from 'vitest';
import { createSqlStore } from '../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../src/backend/store/sqlite-engine.ts';
import { type ReadFamily, readMetrics, valueAt } from '../adapters/watch/read-metrics.ts';
import { type Fixture, type FixtureOptions, startFixture } from '../backend/backend-on-loopback.ts';
import { startFakeService } from '../backend/fake-service.ts';

export const STATUS = { ts: null, boot_id: 'boot', conn_seq: 1, version: '1.0.0', reasons: [] };
export const stateOf = (lostMs: number, unspokenMs: number) => ({
  ts: null,
  boot_id: 'boot',
  lanes: [{ id: 'main', phase: 'live', speech_lost_ms: lostMs, unspoken_ms: unspokenMs }],
});

export interface MonitoredBackend {
  readonly fixture: Fixture;
  readonly path: string;
  publish(device: string, noun: string, body: object): void;
  scrape(): Promise<ReadFamily[]>;
  /** Scrapes until a value is as wanted. */
  scrapeWith(
    name: string,
    labels: Record<string, string>,
    isRight: (value: number) => boolean,
  ): Promise<ReadFamily[]>;
}

/** For a test file: what it starts is closed after each test. */
export function monitoredBackends() {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-monitoring-'));
  const closers: (() => Promise<void>)[] = [];
  let stores = 0;
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  afterEach(closeAll);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A backend with one device that is fine and has its token, and with 1 of 10 minutes of a group's budget used. */
  async function start(options: FixtureOptions = {}, minutesUsed = 1): Promise<MonitoredBackend> {
    stores += 1;
    const path = join(folder, `store-${stores}.db`);
    const store = createSqlStore(createSqliteEngine(path));
    const hall = { device: 'museum/hall-1', lane: 'main', session: 'session' };
    await store.append({ id: 'given', ...hall, source: 'backend', ms: 3_600_000 });
    await store.append({ id: 'ended', ...hall, source: 'device', ms: minutesUsed * 60_000 });
    await store.close();
    const fixture = await startFixture({
      webhookSecret: 'secret',
      ...options,
      config: {
        metrics: { listen: '127.0.0.1:0' },
        store: { path },
        groups: [{ name: 'halls', members: ['museum/hall-*'], minutesPerMonth: 10 }],
        webhook: { url: 'http://127.0.0.1:9/hook', secretFile: 'secret' },
        ...options.config,
      },
    });
    closers.push(() => fixture.close());
    const scrape = async (): Promise<ReadFamily[]> => {
      const response = await fetch(`${fixture.backend.watchedAt}/metrics`);
      expect(response.headers.get('content-type')).toBe(
        'application/openmetrics-text; version=1.0.0; charset=utf-8',
      );
      return readMetrics(await response.text());
    };
    const kit: MonitoredBackend = {
      fixture,
      path,
      scrape,
      publish(device, noun, body) {
        fixture.bus.publish(`dragoman/v1/museum/${device}/${noun}`, JSON.stringify(body), {
          retain: noun !== 'health',
        });
      },
      async scrapeWith(name, labels, isRight) {
        for (const end = performance.now() + 60_000; performance.now() < end; await sleep(50)) {
          const seen = await scrape();
          if (isRight(valueAt(seen, name, labels) ?? Number.NaN)) return seen;
        }
        throw new Error(`${name} ${JSON.stringify(labels)} is not as wanted`);
      },
    };
    kit.publish('kiosk-1', 'status', { ...STATUS, status: 'ready' });
    kit.publish('kiosk-1', 'state', stateOf(1000, 1000));
    kit.publish('kiosk-1', 'health', { boot_id: 'boot', lanes: [{ id: 'main', billed_s: 60 }] });
    await kit.scrapeWith('dragoman_devices', { status: 'ready' }, (value) => value === 1);
    await kit.scrapeWith('dragoman_lanes', { phase: 'live' }, (value) => value === 1);
    await kit.scrapeWith('dragoman_group_month_seconds', { group: 'halls' }, (value) => value > 0);
    return kit;
  }

  async function calm(): Promise<ReadFamily[]> {
    const kit = await start();
    await kit.fixture.ask('kiosk-1', 'first');
    return kit.scrapeWith(
      'dragoman_backend_token_answers_total',
      { result: 'granted' },
      (value) => value === 1,
    );
  }

  /** A service whose answers a test gives. */
  async function serviceThat(answer: Parameters<typeof startFakeService>[0]): Promise<string> {
    const service = await startFakeService(answer);
    closers.push(() => service.close());
    return service.url;
  }

  return { folder, closeAll, start, calm, serviceThat };
}
