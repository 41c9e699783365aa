import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { World } from './world.ts';

function requests(world: World) {
  return world.all('request_token').map(({ id, attempt }) => `${id}#${attempt}`);
}

describe('while the broker is away', () => {
  it('no token is asked for; audio is held; the question is put when the line is back', () => {
    const world = new World();
    world.start();
    expect(world.phase).toBe('acquiring');
    world.speak(20);
    world.pass(600_000);
    expect(world.all('request_token')).toHaveLength(0);
    expect(world.accounts.held).toBe(20);
    world.line(true);
    world.until(() => requests(world).length === 1, 10_000);
    expect(requests(world)).toEqual(['test-1#1']);
    // The window of the token is counted from here, not from when the lane began to want it.
    world.grant({ windowMs: 10_000 });
    expect(world.phase).toBe('connecting');
  });

  it('who has only just begun asks at once when the line comes', () => {
    const world = new World();
    world.start();
    world.pass(900);
    world.line(true);
    expect(requests(world)).toEqual(['test-1#1']);
  });

  it.each([
    [5000, 1000],
    [60_000, 6000],
    [3_600_000, 10_000],
  ])('a fleet that waited %i ms for its first line asks spread over %i ms', (waitedMs, spreadMs) => {
    const waits = Array.from({ length: 200 }, (_, seed) => {
      const world = new World({ seed: seed * 7919 });
      world.start();
      world.pass(waitedMs);
      world.line(true);
      expect(requests(world)).toEqual([]);
      return world.due('token');
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(spreadMs);
    expect(Math.max(...waits)).toBeGreaterThan(spreadMs * 0.9);
    expect(Math.min(...waits)).toBeLessThan(spreadMs * 0.1);
  });

  it('an open question rests, and is repeated soon after the line is back, spread over a fleet', () => {
    const waits = Array.from({ length: 200 }, (_, seed) => {
      const world = new World({ seed: seed * 7919 }).goAcquiring();
      world.line(false);
      expect(world.timers.has('token')).toBe(false);
      world.pass(10_000);
      expect(requests(world)).toEqual(['test-1#1']);
      world.line(true);
      const wait = world.due('token');
      world.pass(1000);
      expect(requests(world)).toEqual(['test-1#1', 'test-1#2']);
      return wait;
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
    expect(Math.max(...waits)).toBeGreaterThan(900);
    expect(Math.min(...waits)).toBeLessThan(100);
  });

  it('a question that got too old is put under a new id', () => {
    const world = new World().goAcquiring();
    world.line(false);
    world.pass(LANE_DEFAULTS.tokenRequestLifeMs);
    world.line(true);
    world.pass(LANE_DEFAULTS.tokenRequestLifeMs / 10);
    expect(requests(world)).toEqual(['test-1#1', 'test-2#2']);
  });

  it('a live stream does not care', () => {
    const world = new World().goLive();
    world.line(false);
    world.speak(40);
    world.line(true);
    expect(world.phase).toBe('live');
    expect(world.wire).toBe('s'.repeat(40));
    expect(world.all('request_token')).toHaveLength(1);
  });

  it('a lane that loses its stream waits for the line and goes on', () => {
    const world = new World().goLive();
    world.line(false);
    world.end();
    world.until(() => world.phase === 'acquiring', 2000);
    world.pass(300_000);
    expect(world.all('request_token')).toHaveLength(1);
    world.line(true);
    world.until(() => world.all('request_token').length === 2, 10_000);
    world.grant();
    world.open();
    world.taskRuns();
    expect(world.phase).toBe('live');
  });
});
