import { describe, expect, it } from 'vitest';
import { createFakeWorld, testConfig } from './fake-world.ts';

describe('a new configuration', () => {
  it('changes languages and echo while the lane runs, and names what needs a restart', async () => {
    const world = createFakeWorld();
    await world.goLive();
    world.clock.advance(3000);
    const next = testConfig({
      targets: ['de', 'fr'],
      echo: 'off',
      playback: { driver: 'file', path: 'other.wav' },
    });
    expect(world.agent.apply(next)).toEqual(['lanes']);
    expect(world.agent.lanes[0]?.state.orders).toMatchObject({ targets: ['de', 'fr'], echo: 'off' });
    expect(world.lastStream().calls.at(-1)).toContain('"target_language":"fr"');
  });

  it('changes nothing when nothing changed', async () => {
    const world = createFakeWorld();
    await world.goLive();
    const calls = world.lastStream().calls.length;
    expect(world.agent.apply(testConfig())).toEqual([]);
    expect(world.lastStream().calls).toHaveLength(calls);
  });

  const ORDERED = { source: 'de', targets: ['fr'], echo: 'off', volume: 30, muted: true };
  /** Everything that an operator can change is changed. */
  async function ordered() {
    const world = createFakeWorld();
    await world.goLive();
    world.command('languages', { id: 'c1', args: { source: 'de', targets: ['fr'] } });
    world.command('echo', { id: 'c2', args: { mode: 'off' } });
    world.command('volume', { id: 'c3', args: { percent: 30 } });
    world.command('mute', { id: 'c4' });
    return world;
  }
  const ordersIn = (world: Awaited<ReturnType<typeof ordered>>) => world.agent.lanes[0]?.state.orders;

  it('leaves what operators have changed, when nothing changed', async () => {
    const world = await ordered();
    expect(ordersIn(world)).toMatchObject(ORDERED);
    const before = ordersIn(world);
    for (let i = 0; i < 3; i++) world.agent.apply(testConfig());
    expect(ordersIn(world)).toBe(before);
  });

  it.each([
    ['source', { source: 'it' }, { source: 'it' }],
    ['targets', { targets: ['ja'] }, { targets: ['ja'] }],
    ['echo', { echo: 'cancel' }, { echo: 'cancel' }],
    ['bargeIn', { bargeIn: 'flush' }, { bargeIn: 'flush' }],
    ['standbyAfter', { standbyAfter: 7 }, { standbyAfterMs: 7000 }],
    ['volume', { playback: { driver: 'file', path: 'out.wav', volume: 55 } }, { volume: 55 }],
  ])('takes back what operators have changed of %s alone, when that changes', async (_key, lane, changed) => {
    const world = await ordered();
    const next = testConfig(lane);
    world.agent.apply(next);
    expect(ordersIn(world)).toMatchObject({ ...ORDERED, ...changed });
    // And the same file again changes nothing more.
    world.command('languages', { id: 'd1', args: { source: 'pl', targets: ['nl'] } });
    world.agent.apply(next);
    expect(ordersIn(world)).toMatchObject({ source: 'pl', targets: ['nl'] });
  });
});
