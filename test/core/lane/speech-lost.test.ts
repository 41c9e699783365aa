import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { laneStatus } from '../../../src/core/lane/status.ts';
import { CHUNK_MS, World } from './world.ts';

const CAPACITY = Math.floor(LANE_DEFAULTS.holdMs / CHUNK_MS);
const events = (world: World) => world.all('notify').filter(({ kind }) => kind === 'speech_lost');
const reasons = (world: World) => laneStatus(world.state, world.now).reasons;
/** The service can't be reached: one try after the other fails while somebody speaks. */
function speakInVain(world: World, chunks: number): void {
  for (let i = 0; i < chunks; i++) {
    if (world.phase === 'acquiring') world.grant();
    if (world.phase === 'connecting') world.unreach(true);
    world.speak(1);
  }
}

describe('an outage that is longer than the backlog', () => {
  it('is told once, at its end, with the sum, the cause, and from when to when', () => {
    const world = new World().goLive();
    world.end();
    const beganAt = world.now;
    speakInVain(world, CAPACITY);
    expect(world.state.loss).toBeNull();
    speakInVain(world, 25);
    expect(reasons(world)).toContainEqual({ code: 'speech_lost', detail: 'network' });
    expect(events(world)).toHaveLength(0);
    while (world.phase === 'waiting') world.speak(1);
    world.comeBack();
    world.hush(10);
    expect(events(world)).toHaveLength(0);
    world.hush(40);
    const lostMs = world.accounts.lost * CHUNK_MS;
    expect(lostMs).toBeGreaterThanOrEqual(25 * CHUNK_MS);
    expect(events(world)).toHaveLength(1);
    expect(events(world)[0]).toMatchObject({
      detail: { lost_ms: lostMs, cause: 'network' },
      times: { from: beganAt, to: beganAt + lostMs },
    });
    expect(reasons(world)).toEqual([]);
  });

  it('is no loss when nobody speaks', () => {
    const world = new World().goLive();
    world.end();
    for (let i = 0; i < 2 * CAPACITY; i++) {
      if (world.phase === 'acquiring') world.grant();
      if (world.phase === 'connecting') world.unreach(true);
      world.hush(1);
    }
    expect(world.state.loss).toBeNull();
    expect(events(world)).toHaveLength(0);
  });

  it('is told each ten minutes while it goes on, and its end tells the whole of it', () => {
    const world = new World().goAcquiring();
    world.line(false);
    world.speak(CAPACITY + Math.ceil((25 * 60_000) / CHUNK_MS));
    expect(events(world)).toHaveLength(2);
    for (const { detail } of events(world)) expect(detail).toMatchObject({ ongoing: true, cause: 'no_line' });
    expect(reasons(world)).toContainEqual({ code: 'speech_lost', detail: 'no_line' });
    world.stop();
    expect(events(world)).toHaveLength(3);
    const { detail } = world.last('notify');
    expect(detail).toEqual({ lost_ms: world.accounts.lost * CHUNK_MS, cause: 'no_line' });
  });

  it('names the backend as its cause when that is silent', () => {
    const world = new World().goAcquiring();
    world.step({ type: 'backend', silent: true });
    world.speak(CAPACITY + 2);
    expect(reasons(world)).toEqual([
      { code: 'no_session', detail: 'acquiring' },
      { code: 'no_backend' },
      { code: 'speech_lost', detail: 'no_backend' },
    ]);
  });

  it('is one outage on a way that loses a word now and then', () => {
    const world = new World({ settings: { stuckMs: 1e9 } }).goLive();
    const { stream } = world;
    for (let i = 0; i < 20; i++) {
      world.step({ type: 'congested', stream });
      world.speak(i === 0 ? CAPACITY + 5 : 6);
      world.step({ type: 'drained', stream });
      world.speak(3);
    }
    expect(world.state.loss?.cause).toBe('congested');
    expect(events(world)).toHaveLength(0);
    world.hush(60);
    expect(events(world)).toHaveLength(1);
  });
});
