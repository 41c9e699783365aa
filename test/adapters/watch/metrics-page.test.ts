import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import type { Measured } from '../../../src/device/status/agent-families.ts';
import { type Metrics, openMetricsPage } from '../../../src/device/status/metrics-page.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { readMetrics, valueAt } from './read-metrics.ts';

let page: Metrics | null = null;
afterEach(async () => {
  await page?.close();
  page = null;
});

const MEASURED: Measured = {
  version: '1',
  status: 'ready',
  reasons: [],
  isConnected: true,
  lanes: [],
  health: {
    ts: null,
    boot_id: 'boot',
    rss_bytes: 1,
    cpu_seconds: null,
    loop_lag_ms: null,
    temperature_c: null,
    uptime_s: 5,
    outbox: { depth: 0, dropped: 0 },
    reconnects: 0,
    lanes: [],
  },
};

function start(listen: string) {
  const clock = createVirtualClock();
  const lines: string[] = [];
  const log = createLogger({ level: 'trace', format: 'json', sink: { write: (line) => lines.push(line) } });
  let measures = 0;
  const measure = (): Measured => {
    measures += 1;
    return MEASURED;
  };
  return {
    clock,
    lines,
    opening: openMetricsPage({ listen, measure, clock, log }),
    measures: () => measures,
  };
}

describe("the agent's page for Prometheus", () => {
  it('shows the figures, measured at most once a second', async () => {
    const { opening, clock, measures } = start('127.0.0.1:0');
    page = await opening;
    const get = async () => {
      const response = await fetch(`${page?.url}/metrics`);
      expect(response.headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
      return readMetrics(await response.text());
    };
    expect(valueAt(await get(), 'dragoman_agent_uptime_seconds')).toBe(5);
    for (let flood = 0; flood < 20; flood += 1) await get();
    expect(measures()).toBe(1);
    clock.advance(1000);
    await get();
    expect(measures()).toBe(2);
    expect((await fetch(`${page.url}/`)).status).toBe(404);
  });

  it('says why when its port is taken, and comes when the port is free', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const listen = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { opening, clock, lines } = start(listen);
    page = await opening;
    expect(page.url).toBeNull();
    expect(lines.join('')).toMatch(
      /metrics\.listen cannot be used \(another program uses this address and port\): end that program/,
    );
    await new Promise((resolve) => other.close(resolve));
    clock.advance(30_000);
    await expect.poll(() => page?.url).toBe(`http://${listen}`);
  });

  it.each(['0.0.0.0:9465', '192.168.1.5:9465', 'kiosk.example:9465', '[::]:9465'])(
    'is refused at %s, which other machines can reach',
    (listen) => {
      const { error } = configSchema.shape.metrics.safeParse({ listen });
      expect(error?.issues[0]?.message).toBe(
        'must be a loopback address with a port, such as "127.0.0.1:9465"',
      );
    },
  );
});
