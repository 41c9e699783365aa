import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { CHUNK_MS, World } from './world.ts';

function congest(world: World, stream = 1): void {
  world.step({ type: 'congested', stream });
}

function drain(world: World, stream = 1): void {
  world.step({ type: 'drained', stream });
}

describe('a way that is slower than speech', () => {
  it('holds what is said, and gives it out when the way is free again', () => {
    const world = new World().goLive();
    world.speak(3);
    congest(world);
    world.speak(5);
    expect(world.wire).toBe('sss');
    expect(world.accounts).toMatchObject({ held: 5, lost: 0 });
    congest(world);
    drain(world);
    world.hush(20);
    expect(world.accounts).toMatchObject({ held: 0, lost: 0, dropped: 0 });
    expect(world.all('send_audio')[3]?.queued).toBe(true);
  });

  it('sends no silence into the jam either', () => {
    const world = new World().goLive();
    congest(world);
    world.pass(5000);
    expect(world.wire).toBe('');
    drain(world);
    world.pass(2000);
    expect(world.wire).toMatch(/^f+$/);
  });

  it('that takes nothing at all is given up, although pings seem to be answered', () => {
    const world = new World().goLive();
    congest(world);
    const { now } = world;
    world.until(() => world.phase === 'waiting', 30_000);
    expect(world.now - now).toBeGreaterThanOrEqual(LANE_DEFAULTS.stuckMs);
    expect(world.now - now).toBeLessThanOrEqual(LANE_DEFAULTS.stuckMs + LANE_DEFAULTS.pingMs + 10);
    expect(world.state.problem?.code).toBe('unresponsive');
  });

  it('that is free again by itself means nothing', () => {
    const world = new World().goLive();
    drain(world);
    world.speak(2);
    expect(world.wire).toBe('ss');
  });

  it('of a retiring session: it is fed nothing, and the new one goes on', () => {
    const world = new World().goRetiring();
    congest(world, 1);
    const fed = world.all('send_audio').filter(({ stream }) => stream === 1).length;
    world.speak(4);
    expect(world.all('send_audio').filter(({ stream }) => stream === 1)).toHaveLength(fed);
    expect(world.accounts.held).toBe(0);
  });

  it('does not carry over to the next session', () => {
    const world = new World().goReady();
    congest(world, 1);
    world.speak(2);
    expect(world.accounts.held).toBe(2);
    world.end(1006, '', 1);
    world.pass(CHUNK_MS * 20);
    world.hush(10);
    expect(world.accounts).toMatchObject({ held: 0, lost: 0 });
  });
});
