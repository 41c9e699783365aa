import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../src/core/lane/report.ts';
import { needsBackend } from '../../../src/core/lane/waiting.ts';
import { CHUNK_MS, World } from './world.ts';

/** The longest that anyone who speaks waits for the next try, where nobody asked for more. */
const LONGEST_MS = 18_000;

/** After so many tries that failed, the last one of them now. */
function tired(failures: number, seed = 1): World {
  const world = new World({ seed }).goConnecting({ windowMs: 3_600_000 });
  for (let i = 1; i < failures; i++) {
    world.unreach(true);
    world.until(() => world.phase === 'acquiring', 61_000);
    world.grant();
  }
  world.unreach(true);
  return world;
}

/** Somebody speaks until the lane tries again. @returns how long that took */
function speakUntilTry(world: World): number {
  const { now } = world;
  while (world.phase === 'waiting') world.speak(1);
  return world.now - now;
}

describe('a lane that waits', () => {
  it('tries again within a few seconds when a voice is heard late in a long wait', () => {
    let quietMs = 0;
    for (let seed = 0; seed < 40; seed++) {
      const world = tired(8, seed * 7919);
      quietMs = Math.max(quietMs, world.due('retry'));
      if (world.due('retry') < 20_000) continue;
      world.pass(16_000);
      expect(speakUntilTry(world)).toBeLessThanOrEqual(3000 + 2 * CHUNK_MS);
    }
    expect(quietMs).toBeGreaterThan(45_000);
  });

  it('never sooner than a spacing that grows with the failures, and spread, so that a fleet never storms', () => {
    const waits: number[] = [];
    for (let seed = 0; seed < 200; seed++) {
      const world = tired(8, seed * 7919);
      if (world.due('retry') < LONGEST_MS) continue;
      waits.push(speakUntilTry(world));
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(15_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(LONGEST_MS + CHUNK_MS);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(2000);
  });

  it('for an hour, with people who never stop speaking, keeps its tries apart', () => {
    const world = tired(1);
    const endAt = world.now + 3_600_000;
    let tries = 0;
    while (world.now < endAt) {
      speakUntilTry(world);
      world.grant();
      world.unreach(true);
      tries++;
    }
    // About one every 14 s: some are drawn to come sooner anyway.
    expect(tries).toBeGreaterThan(180);
    expect(tries).toBeLessThanOrEqual(290);
  });

  it.each([
    [20_000, 20_000],
    [600_000, 600_000],
    [31_536_000_000, 600_000],
  ])('because it was asked to for %d ms is not hurried by a voice', (retryAfterMs, atLeastMs) => {
    const waits: number[] = [];
    for (let seed = 0; seed < 20; seed++) {
      const world = new World({ seed: seed * 7919 }).goAcquiring();
      world.speak(3);
      world.deny({ retryAfterMs });
      waits.push(speakUntilTry(world));
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(atLeastMs);
    expect(Math.max(...waits)).toBeLessThanOrEqual(atLeastMs * 1.2 + 3000);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(1000);
  });

  it('for what was said just before it began is hurried, too', () => {
    for (let seed = 0; seed < 40; seed++) {
      const world = tired(8, seed * 7919);
      world.until(() => world.phase === 'acquiring', 61_000);
      world.grant();
      world.speak(10);
      world.unreach(true);
      expect(world.due('retry')).toBeLessThanOrEqual(LONGEST_MS);
    }
  });

  it('is hurried once by each wait: the spread of a fleet is not talked away', () => {
    const world = tired(9, 3);
    world.until(() => world.due('retry') > 30_000 || world.phase !== 'waiting', 1);
    world.speak(1);
    const dueAt = world.now + world.due('retry');
    world.speak(10);
    expect(world.now + world.due('retry')).toBe(dueAt);
  });

  it('is not hurried by noises that are no voice', () => {
    const world = tired(9, 3);
    const due = world.due('retry');
    world.hush(5);
    expect(world.due('retry')).toBe(due - 5 * CHUNK_MS);
  });

  it('is not hurried while the old session still makes room', () => {
    const world = new World().goMakingRoom();
    expect(world.phase).toBe('waiting');
    const dueAt = world.now + world.due('retry');
    world.speak(2);
    expect(world.now + world.due('retry')).toBe(dueAt);
  });

  it('parked is not hurried: a person has to help', () => {
    const world = new World().goParked();
    const dueAt = world.now + world.due('retry');
    world.speak(20);
    expect(world.now + world.due('retry')).toBe(dueAt);
  });
});

describe('a request that the backend does not answer', () => {
  it('is repeated within a few seconds after somebody speaks', () => {
    const world = new World().goAcquiring();
    world.pass(400_000);
    const { at } = world.last('request_token');
    world.until(() => world.last('request_token').at > at && world.due('token') > 55_000, 200_000);
    const asked = world.all('request_token').length;
    world.pass(20_000);
    world.speak(12);
    expect(world.all('request_token')).toHaveLength(asked + 1);
  });

  it('is repeated every 15 to 18 s while people go on speaking', () => {
    const world = new World().goAcquiring();
    world.pass(400_000);
    const before = world.all('request_token').length;
    world.speak(Math.ceil(600_000 / CHUNK_MS));
    const times = world.all('request_token').map(({ at }) => at);
    const gaps = times.slice(before + 1).map((at, i) => at - (times[before + i] ?? at));
    expect(gaps.length).toBeGreaterThan(30);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(15_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(18_000 + CHUNK_MS);
  });
});

describe('the next try', () => {
  const DEVICE = { capture: 'mic', playback: 'speaker' };
  const told = (world: World, stamp: (at: number) => string | null = (at) => `at ${Math.round(at)}`) =>
    reportLane('main', world.state, DEVICE, stamp).next_try_at;

  it('is told while one is waited for, also when a voice brings it forward', () => {
    const world = tired(9, 3);
    expect(told(world)).toBe(`at ${world.timers.get('retry')}`);
    const first = told(world);
    world.speak(1);
    expect(told(world)).toBe(`at ${Math.round(world.timers.get('retry') ?? 0)}`);
    expect(told(world)).not.toBe(first);
  });

  it('is null where nothing is waited for, or the clock is not set', () => {
    expect(told(new World())).toBeNull();
    expect(told(new World().goLive())).toBeNull();
    expect(told(new World().goParked(), () => null)).toBeNull();
    expect(told(new World().goParked())).not.toBeNull();
  });
});

describe('the backend is needed at once', () => {
  const needed = (world: World): boolean => needsBackend(world.state, world.now);

  it('while somebody speaks, and for ten seconds after that', () => {
    const world = new World().goAcquiring();
    expect(needed(world)).toBe(false);
    world.speak(1);
    expect(needed(world)).toBe(true);
    world.hush(30);
    expect(needed(world)).toBe(true);
    world.hush(3);
    expect(needed(world)).toBe(false);
  });

  it('while a session ends within a minute', () => {
    const world = new World().goLive({ maxDurationMs: 120_000 });
    world.hush(125);
    expect(needed(world)).toBe(false);
    world.hush(80);
    expect(needed(world)).toBe(true);
  });

  it('not by a lane that nobody wants', () => {
    const world = new World().goLive({ maxDurationMs: 30_000 });
    world.speak(1);
    world.stop();
    expect(needed(world)).toBe(false);
  });
});
