import { describe, expect, it } from 'vitest';
import { type HealthMessage, healthSchema } from '../../src/protocol/mqtt/health.ts';
import { BASE, createFakeDeps } from './fake-deps.ts';

const VITALS = { rssBytes: 9e7, cpuSeconds: 4.2, loopLagMs: { p50: 0.1, p99: 3 }, temperatureC: 51 };

async function live(more: Parameters<typeof createFakeDeps>[1] = { vitals: () => VITALS }) {
  const deps = createFakeDeps(undefined, more);
  await deps.goLive();
  const all = (): HealthMessage[] =>
    deps.published
      .filter(({ topic }) => topic === `${BASE}/health`)
      .map(({ body }) => healthSchema.parse(body));
  return { deps, all };
}

describe('health', () => {
  it('is published with the first connection and then once a minute, at QoS 0, not retained', async () => {
    const { deps, all } = await live();
    expect(all()).toHaveLength(1);
    deps.clock.advance(180_000);
    expect(all()).toHaveLength(4);
    const sent = deps.published.filter(({ topic }) => topic === `${BASE}/health`);
    for (const { options } of sent) expect(options).toEqual({ qos: 0 });
    expect(all().at(-1)).toMatchObject({
      rss_bytes: 9e7,
      cpu_seconds: 4.2,
      loop_lag_ms: { p50: 0.1, p99: 3 },
      temperature_c: 51,
      uptime_s: 180,
      reconnects: 0,
      outbox: { depth: 0, dropped: 0 },
    });
  });

  it('contains the counters of the lane', async () => {
    const { deps, all } = await live();
    for (let i = 0; i < 10; i++) deps.speak();
    deps.brokerUp(2);
    deps.clock.advance(60_000);
    const [lane] = all().at(-1)?.lanes ?? [];
    expect(all().at(-1)?.reconnects).toBe(1);
    expect(lane).toMatchObject({
      id: 'main',
      xruns: 0,
      capture_restarts: 0,
      speech_lost_ms: 0,
      rollovers: 0,
    });
    // Its pings had no answer: the stream's unanswered sound waits for the next stream.
    expect(lane?.hold_ms).toBe(3200);
    expect(lane?.billed_s).toBe(15);
    expect(lane?.capture_to_wire_ms?.p50).toBeGreaterThanOrEqual(0);
  });

  it('contains nulls without a machine, and stops with the agent', async () => {
    const { deps, all } = await live({});
    expect(all()[0]).toMatchObject({
      rss_bytes: null,
      cpu_seconds: null,
      loop_lag_ms: null,
      temperature_c: null,
    });
    const ending = deps.agent.stop();
    deps.clock.advance(10_000);
    await ending;
    const count = all().length;
    deps.clock.advance(300_000);
    expect(all()).toHaveLength(count);
  });
});
