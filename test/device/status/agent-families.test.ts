import { describe, expect, it } from 'vitest';
import { openMetrics } from '../../../src/adapters/watch/open-metrics.ts';
import { agentFamilies } from '../../../src/device/status/agent-families.ts';
import { measureAgent } from '../../../src/device/status/metrics-page.ts';
import { readMetrics, valueAt } from '../../adapters/watch/read-metrics.ts';
import { understood } from '../../service-events.ts';
import { createFakeDeps, TOKEN } from '../fake-deps.ts';

const VITALS = { rssBytes: 9e7, cpuSeconds: 4.2, loopLagMs: { p50: 0.5, p99: 3 }, temperatureC: 51 };

describe('the metrics of the agent', () => {
  it('are those of status, state and health', async () => {
    const deps = createFakeDeps(undefined, { vitals: () => VITALS });
    await deps.goLive();
    for (let chunk = 0; chunk < 10; chunk++) deps.speak();
    const read = () => readMetrics(openMetrics(agentFamilies(measureAgent(deps.agent))));
    const live = read();
    const lane = { lane: 'main' };
    expect(valueAt(live, 'dragoman_agent_status', { status: 'ready' })).toBe(1);
    expect(valueAt(live, 'dragoman_agent_status', { status: 'lost' })).toBe(0);
    expect(valueAt(live, 'dragoman_agent_broker_connected')).toBe(1);
    expect(valueAt(live, 'dragoman_agent_memory_bytes')).toBe(9e7);
    expect(valueAt(live, 'dragoman_agent_cpu_seconds_total')).toBe(4.2);
    expect(valueAt(live, 'dragoman_agent_loop_lag_seconds', { quantile: '0.99' })).toBe(0.003);
    expect(valueAt(live, 'dragoman_lane_phase', { ...lane, phase: 'live' })).toBe(1);
    expect(valueAt(live, 'dragoman_lane_speech_lost_seconds_total', lane)).toBe(0);
    expect(
      valueAt(live, 'dragoman_lane_capture_to_wire_seconds', { ...lane, quantile: '0.5' }),
    ).toBeGreaterThanOrEqual(0);
    deps.clock.advance(60_000);
    expect(valueAt(read(), 'dragoman_lane_billed_seconds_total', lane)).toBeGreaterThan(0);
  });

  it('hold neither what was said nor a token', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    for (let chunk = 0; chunk < 10; chunk++) deps.speak();
    deps.service(understood({ text: 'my name is Smith' }));
    deps.clock.advance(1000);
    const text = openMetrics(agentFamilies(measureAgent(deps.agent)));
    expect(text).not.toMatch(/Smith/);
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(TOKEN.slice(4, 12));
  });

  it('leave out what is not known', async () => {
    const deps = createFakeDeps();
    const read = readMetrics(openMetrics(agentFamilies(measureAgent(deps.agent))));
    expect(valueAt(read, 'dragoman_agent_memory_bytes')).toBeNull();
    expect(valueAt(read, 'dragoman_lane_muted', { lane: 'main' })).toBe(0);
  });
});
