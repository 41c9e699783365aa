import { describe, expect, it } from 'vitest';
import { laneStatus } from '../../../src/core/lane/status.ts';
import { emptyReplayLog, unspoken } from '../../../src/core/replay/log.ts';
import { World } from './world.ts';

describe('a step that threw', () => {
  it('lets go of everything that the lane had open, and begins anew after a wait', () => {
    const world = new World().goLive();
    world.speak(3);
    const stream = world.stream;
    world.crash();
    expect(world.phase).toBe('restarting');
    expect(world.last('close_stream')).toMatchObject({ stream, how: 'terminate' });
    expect(world.all('close_capture')).toHaveLength(1);
    expect([...world.timers.keys()]).toEqual(['retry']);
    expect(world.due('retry')).toBeLessThanOrEqual(2000);
    world.until(() => world.phase === 'acquiring', 2000);
    expect(world.all('open_capture')).toHaveLength(2);
    world.grant();
    world.open();
    world.taskRuns();
    expect(world.phase).toBe('live');
    world.speak(2);
    expect(world.state.problem).toBeNull();
  });

  it('is told: an event, a reason, the last error and a count', () => {
    const world = new World().goLive();
    world.crash();
    expect(world.last('notify')).toMatchObject({
      kind: 'internal_error',
      detail: { message: expect.stringMatching(/defect of the program.*captured: TypeError/), lost_ms: 0 },
    });
    expect(world.notes).toContain('session_ended');
    expect(laneStatus(world.state, world.now)).toMatchObject({
      status: 'degraded',
      reasons: [{ code: 'internal_error' }],
    });
    expect(world.state.problem?.code).toBe('internal_error');
    expect(world.state.counts.defects).toBe(1);
  });

  it('counts the speech that waited as lost', () => {
    const world = new World().goWaiting();
    world.forgetPlans();
    for (let i = 0; i < 3; i++) world.capture(true);
    expect(world.accounts.held).toBe(3);
    world.crash();
    expect(world.accounts).toMatchObject({ held: 0, dropped: 3, lost: 3 });
    expect(world.last('notify').detail).toMatchObject({ lost_ms: 960 });
  });

  it('counts what the stream had heard and not spoken as lost, too, and tells both as lost speech', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.speak(4);
    world.hush(3);
    world.understands('a');
    world.hear('a', 900, true);
    world.speak(5);
    world.crash();
    expect(world.accounts).toMatchObject({ held: 0, lost: 5 });
    expect(world.last('notify').detail).toMatchObject({ lost_ms: 1600 });
    expect(laneStatus(world.state, world.now).reasons).toContainEqual({
      code: 'speech_lost',
      detail: 'internal_error',
    });
    world.comeBack();
    world.hush(40);
    expect(world.all('notify').filter(({ kind }) => kind === 'speech_lost')).toMatchObject([
      { detail: { lost_ms: 1600, cause: 'internal_error' } },
    ]);
  });

  it('counts what an old stream still owed as lost', () => {
    const world = new World().goRetiring();
    const owed = unspoken(world.state.retiring?.stream.replay ?? emptyReplayLog([]));
    const voiced = owed.filter((chunk) => chunk.voiced).length;
    expect(voiced).toBeGreaterThan(3);
    world.crash();
    expect(world.accounts.lost).toBe(voiced);
  });

  it('at a start, a line or an order has heard it all the same', () => {
    const world = new World();
    world.crash({ type: 'line', up: true });
    world.crash({ type: 'orders', orders: { muted: true } });
    expect(world.phase).toBe('idle');
    world.crash({ type: 'start' });
    expect(world.phase).toBe('restarting');
    world.until(() => world.phase === 'acquiring', 10_000);
    expect(world.all('request_token')).toHaveLength(1);
    world.comeBack();
    expect(world.state).toMatchObject({ phase: 'live', wanted: true, orders: { muted: true } });
  });

  it('at a stop or an end has heard it all the same', () => {
    const stopped = new World().goLive();
    stopped.crash({ type: 'stop' });
    expect(stopped.state).toMatchObject({ phase: 'idle', wanted: false });
    expect(stopped.timers.size).toBe(0);
    const ended = new World().goLive();
    ended.crash({ type: 'shutdown' });
    expect(ended.phase).toBe('closed');
  });

  it('keeps what the operator ordered, and never uses a number twice', () => {
    const world = new World().goLive();
    world.orders({ targets: ['fr'], volume: 30, muted: true });
    const ids = new Set(world.all('request_token').map(({ id }) => id));
    const streams = world.all('open_stream').map(({ stream }) => stream);
    world.crash();
    world.until(() => world.phase === 'acquiring', 2000);
    expect(ids).not.toContain(world.last('request_token').id);
    world.grant();
    expect(streams).not.toContain(world.stream);
    expect(world.state.orders).toMatchObject({ targets: ['fr'], volume: 30, muted: true });
  });

  it('that comes again and again waits longer each time, up to five minutes', () => {
    const world = new World().goLive();
    const waits: number[] = [];
    for (let i = 0; i < 40; i++) {
      world.crash();
      waits.push(world.due('retry'));
      world.until(() => world.phase === 'acquiring', 301_000);
    }
    expect(Math.max(...waits.slice(0, 2))).toBeLessThan(4000);
    expect(Math.max(...waits)).toBeGreaterThan(100_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
  });

  it('is forgiven when a stream has lasted', () => {
    const world = new World().goLive();
    world.crash();
    world.comeBack();
    expect(world.state.crashes).toBe(1);
    world.speak(200);
    expect(world.state.crashes).toBe(0);
  });

  it('does not keep a stopped lane, or an ending one, from resting', () => {
    const stopped = new World().goDraining();
    stopped.crash();
    expect(stopped.phase).toBe('idle');
    const ending = new World().goLive();
    ending.shutdown();
    ending.crash();
    expect(ending.phase).toBe('closed');
  });

  it('does not keep an operator waiting who orders a start', () => {
    const world = new World().goRestarting();
    world.start();
    expect(world.phase).toBe('acquiring');
    expect(world.timers.has('retry')).toBe(false);
  });
});
