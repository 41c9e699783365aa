import { describe, expect, it } from 'vitest';
import { createFakeDeps, testConfig } from './fake-deps.ts';

describe('a new configuration', () => {
  it('changes languages and echo while the lane runs, and names the keys that need a restart', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    deps.clock.advance(3000);
    const next = testConfig({ targets: ['de', 'fr'], echo: 'off' }, { service: { hosts: ['a.example'] } });
    expect(deps.agent.apply(next)).toEqual(['service']);
    // Named as long as it is pending, and no longer once the file has the old value again.
    expect(deps.agent.apply(next)).toEqual(['service']);
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ reasons: ['restart_needed:service'] });
    expect(deps.agent.apply(testConfig({ targets: ['de', 'fr'], echo: 'off' }))).toEqual([]);
    deps.agent.apply(next);
    expect(deps.agent.lanes[0]?.state.options).toMatchObject({ targets: ['de', 'fr'], echo: 'off' });
    expect(deps.lastStream().calls.at(-1)).toContain('"targets":["de","fr"]');
  });

  it('changes nothing when nothing changed', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const calls = deps.lastStream().calls.length;
    expect(deps.agent.apply(testConfig())).toEqual([]);
    expect(deps.lastStream().calls).toHaveLength(calls);
  });

  const ORDERED = { source: 'de', targets: ['fr'], echo: 'off', volume: 30, muted: true };
  /** Every option that an operator can change is changed. */
  async function ordered() {
    const deps = createFakeDeps();
    await deps.goLive();
    deps.command('languages', { id: 'c1', args: { source: 'de', targets: ['fr'] } });
    deps.command('echo', { id: 'c2', args: { mode: 'off' } });
    deps.command('volume', { id: 'c3', args: { percent: 30 } });
    deps.command('mute', { id: 'c4' });
    return deps;
  }
  const ordersIn = (deps: Awaited<ReturnType<typeof ordered>>) => deps.agent.lanes[0]?.state.options;

  it("keeps the operator's changes when the file has not changed", async () => {
    const deps = await ordered();
    expect(ordersIn(deps)).toMatchObject(ORDERED);
    const before = ordersIn(deps);
    for (let i = 0; i < 3; i++) deps.agent.apply(testConfig());
    expect(ordersIn(deps)).toBe(before);
  });

  it.each([
    ['source', { source: 'it' }, { source: 'it' }],
    ['targets', { targets: ['ja'] }, { targets: ['ja'] }],
    ['echo', { echo: 'cancel' }, { echo: 'cancel' }],
    ['bargeIn', { bargeIn: 'flush' }, { bargeIn: 'flush' }],
    ['standbyAfter', { standbyAfter: 7 }, { standbyAfterMs: 7000 }],
    ['volume', { playback: { driver: 'file', path: 'out.wav', volume: 55 } }, { volume: 55 }],
  ])("overrides only the operator's %s when the file changes that key", async (_key, lane, changed) => {
    const deps = await ordered();
    const next = testConfig(lane);
    deps.agent.apply(next);
    expect(ordersIn(deps)).toMatchObject({ ...ORDERED, ...changed });
    // The same file read again changes nothing more.
    deps.command('languages', { id: 'd1', args: { source: 'pl', targets: ['nl'] } });
    deps.agent.apply(next);
    expect(ordersIn(deps)).toMatchObject({ source: 'pl', targets: ['nl'] });
  });
});
