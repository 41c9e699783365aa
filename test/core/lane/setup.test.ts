import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { World } from './world.ts';

const RUNNING = { message_type: 'current_task', data: { task_status: 'running' } } as const;
const NOT_FOUND = { code: 'NOT_FOUND', desc: 'no task yet' };

/** Times of all effects of one kind since a moment. */
function since(world: World, type: 'poll_task' | 'send_task' | 'ping', from: number): number[] {
  return world.all(type).map(({ at }) => at - from);
}

describe('from start to live', () => {
  it('asks for a token, opens a stream with it, sets the task, asks for it, and sends', () => {
    const world = new World({ orders: { source: 'de', targets: ['fr', 'it'], voice: 'default_low' } });
    world.line(true);
    world.start();
    expect(world.log.map(({ type }) => type)).toEqual(['open_capture', 'request_token', 'arm']);
    expect(world.last('request_token')).toMatchObject({ id: 'test-1', reason: 'start', attempt: 1 });

    world.pass(800);
    world.grant();
    expect(world.phase).toBe('connecting');
    expect(world.last('open_stream')).toMatchObject({ stream: 1, grant: 'test-1' });

    world.pass(500);
    world.open();
    expect(world.phase).toBe('configuring');
    expect(world.last('forget_grant').grant).toBe('test-1');
    expect(world.last('send_task')).toMatchObject({
      stream: 1,
      source: 'de',
      targets: ['fr', 'it'],
      voice: 'default_low',
    });

    world.pass(LANE_DEFAULTS.firstPollMs);
    expect(world.all('poll_task')).toHaveLength(1);
    world.says(RUNNING);
    expect(world.phase).toBe('live');
    expect(world.notes).toEqual(['session_started']);
    expect(world.last('notify').detail).toEqual({
      session: 'test-1...',
      stream_host: 'stream.example',
      reason: 'start',
    });
    expect(world.state.counts).toMatchObject({ sessions: 1, failures: 0, rollovers: 0 });

    world.speak(5);
    expect(world.wire).toBe('sssss');
  });

  it('sends what was said meanwhile first, and nothing before the task runs', () => {
    const world = new World().goAcquiring();
    world.speak(2);
    world.grant();
    world.speak(2);
    world.open();
    world.speak(2);
    expect(world.wire).toBe('');
    expect(world.accounts).toMatchObject({ captured: 6, held: 6 });
    world.taskRuns();
    expect(world.wire).toBe('s');
    world.speak(5);
    expect(world.all('send_audio').map(({ capturedAt }) => capturedAt)).toEqual(
      Array.from({ length: 6 }, (_, i) => 50_000 + (i + 1) * 320),
    );
    expect(world.all('send_audio').every(({ queued }) => queued)).toBe(true);
  });

  it('takes a service for live that tells no status with its task (docs/service.md 6', () => {
    const world = new World().goConfiguring();
    world.pass(700);
    world.says({ message_type: 'current_task', data: {} });
    expect(world.phase).toBe('live');
  });

  it('polls on while the pipeline has not started, no more than once in 2 s (docs/service.md 8', () => {
    const world = new World().goConfiguring();
    const { now } = world;
    for (let i = 0; i < 4; i++) {
      world.until(() => world.all('poll_task').length === i + 1, 3000);
      world.pass(100);
      world.error(NOT_FOUND);
      expect(world.phase).toBe('configuring');
      expect(world.state.problem).toBeNull();
    }
    expect(since(world, 'poll_task', now)).toEqual([650, 2700, 4750, 6800]);
    world.says(RUNNING);
    expect(world.phase).toBe('live');
    world.pass(10_000);
    expect(world.all('poll_task')).toHaveLength(4);
  });

  it.each(['paused', 'unknown', ''])('does not take a task that is "%s" for a running one', (status) => {
    const world = new World().goConfiguring();
    world.pass(700);
    world.says({ message_type: 'current_task', data: { task_status: status } });
    expect(world.phase).toBe('configuring');
  });

  it('believes no answer to a question that it has not asked', () => {
    const world = new World().goConfiguring();
    world.says(RUNNING);
    expect(world.phase).toBe('configuring');
    world.taskRuns();
    expect(world.phase).toBe('live');
  });

  it('asks at once when a live service pushes that the task runs', () => {
    const world = new World().goConfiguring();
    world.pass(200);
    world.says({ message_type: 'task_status', data: { command: 'set_task', task_status: 'running' } });
    world.pass(0);
    expect(world.all('poll_task')).toHaveLength(1);
    world.says(RUNNING);
    expect(world.phase).toBe('live');
  });

  it('asks after such a push as soon as it may, when it has asked lately', () => {
    const world = new World().goConfiguring();
    const { now } = world;
    world.pass(1000);
    world.error(NOT_FOUND);
    world.says({ message_type: 'task_status', data: { task_status: 'running' } });
    world.pass(2000);
    expect(since(world, 'poll_task', now)).toEqual([650, 2700]);
  });

  it('does not mind pushes that say something else, or that come when it is live', () => {
    const world = new World().goConfiguring();
    world.says({ message_type: 'task_status', data: { task_status: 'paused' } });
    world.says({ message_type: 'task_status', data: {} });
    expect(world.due('poll')).toBe(LANE_DEFAULTS.firstPollMs);
    world.taskRuns();
    world.says({ message_type: 'task_status', data: { task_status: 'running' } });
    world.says(RUNNING);
    expect(world.phase).toBe('live');
    expect(world.timers.has('poll')).toBe(false);
  });

  it('gives up a connection that does not open in time', () => {
    const world = new World().goConnecting();
    world.pass(LANE_DEFAULTS.connectMs - 1);
    expect(world.phase).toBe('connecting');
    world.pass(1);
    expect(world.phase).toBe('waiting');
    expect(world.state.problem?.code).toBe('setup_timeout');
    expect(world.last('close_stream')).toMatchObject({ stream: 1, how: 'terminate' });
    expect(world.notes).toEqual([]);
  });

  it('gives up a task that does not run in time', () => {
    const world = new World().goConfiguring();
    world.pass(LANE_DEFAULTS.setupMs - 1);
    expect(world.phase).toBe('configuring');
    world.pass(1);
    expect(world.phase).toBe('waiting');
    expect(world.state.problem?.code).toBe('setup_timeout');
    expect(world.last('close_stream')).toMatchObject({ stream: 1, how: 'terminate' });
  });

  it('pings while it is live, in its rhythm', () => {
    const world = new World().goLive();
    const liveAt = world.now;
    const { pingMs } = LANE_DEFAULTS;
    world.pass(4.5 * pingMs);
    expect(since(world, 'ping', liveAt)).toEqual([1, 2, 3, 4].map((times) => times * pingMs));
    expect(world.phase).toBe('live');
  });

  it('opens once, whatever the connection says again', () => {
    const world = new World().goLive();
    world.open();
    expect(world.phase).toBe('live');
    expect(world.all('send_task')).toHaveLength(1);
  });

  it('minds a second start no more than once', () => {
    const world = new World().goConfiguring();
    world.start();
    expect(world.phase).toBe('configuring');
    expect(world.all('open_capture')).toHaveLength(1);
  });
});
