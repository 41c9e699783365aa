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
});
