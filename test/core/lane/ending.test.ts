import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { situation, WORLD_IN } from './situations.ts';
import { World } from './world.ts';

const EOS = { message_type: 'eos', data: {} } as const;

describe('stop', () => {
  it.each(['standby', 'acquiring', 'connecting', 'configuring', 'waiting', 'parked'] as const)(
    'while %s: idle at once, nothing left behind',
    (phase) => {
      const world = WORLD_IN[phase]();
      if (phase === 'standby') world.orders({ muted: true });
      world.speak(3);
      world.stop();
      expect(world.phase).toBe('idle');
      expect(world.timers.size).toBe(0);
      expect(world.state).toMatchObject({ stream: null, lease: null, wish: null, wanted: false });
      expect(world.accounts).toMatchObject({ captured: 3, dropped: 3, lost: 0, held: 0 });
      expect(world.last('close_capture')).toBeDefined();
      world.pass(600_000);
      expect(world.phase).toBe('idle');
    },
  );

  it.each(['live', 'rolling', 'rolling, ready', 'live, changing its task'])(
    'while %s: ends the task and waits for the service',
    (name) => {
      const world = situation(name);
      world.hear('a', 2000);
      world.stop();
      expect(world.phase).toBe('draining');
      expect(world.last('end_task').stream).toBe(1);
      expect(world.all('flush_playback')).toHaveLength(1);
      world.pass(500);
      world.says(EOS, 1);
      expect(world.phase).toBe('idle');
      expect(world.last('close_stream')).toMatchObject({ stream: 1, how: 'close' });
      expect(world.timers.size).toBe(0);
    },
  );

  it('while configuring says goodbye to a service that has been told a task', () => {
    const world = WORLD_IN.configuring();
    world.stop();
    expect(world.last('close_stream')).toMatchObject({ stream: 1, how: 'close' });
    expect(world.notes).toEqual([]);
  });

  it('while connecting cuts the connection and forgets its token', () => {
    const world = WORLD_IN.connecting();
    world.stop();
    expect(world.last('close_stream')).toMatchObject({ stream: 1, how: 'terminate' });
    expect(world.last('forget_grant').grant).toBe('test-1');
    world.open();
    expect(world.phase).toBe('idle');
    expect(world.all('send_task')).toHaveLength(0);
  });

  it('while idle does nothing', () => {
    const world = new World();
    world.stop();
    expect(world.log).toEqual([]);
    expect(world.phase).toBe('idle');
  });

  it('twice is stop once', () => {
    const world = new World().goDraining();
    world.stop();
    expect(world.all('end_task')).toHaveLength(1);
    expect(world.phase).toBe('draining');
  });

  it('publishes the end of the session', () => {
    const world = new World().goLive();
    world.speak(5);
    world.stop();
    world.says(EOS);
    expect(world.last('notify')).toMatchObject({
      kind: 'session_ended',
      detail: { session: 'test-1...', cause: 'stopped', live_ms: 1600 },
    });
  });
});

describe('a drain', () => {
  it('ends by the newer end event', () => {
    const world = new World().goDraining();
    world.says({ message_type: 'end_of_stream', data: {} });
    expect(world.phase).toBe('idle');
  });

  it('ends when the connection does, however it does', () => {
    for (const how of [
      (world: World) => world.end(1000),
      (world: World) => world.end(1011, 'session_revoked'),
      (world: World) => world.refuse(),
      (world: World) => world.unreach(false),
      (world: World) => world.unreach(true),
    ]) {
      const world = new World().goDraining();
      how(world);
      expect(world.phase).toBe('idle');
      expect(world.state).toMatchObject({ failures: 0, lease: null, stream: null });
    }
  });

  it('is cut off when it takes too long', () => {
    const world = new World().goDraining();
    world.pass(LANE_DEFAULTS.drainMs - 1);
    expect(world.phase).toBe('draining');
    world.pass(1);
    expect(world.phase).toBe('idle');
    expect(world.last('close_stream').stream).toBe(1);
  });

  it('does not mind what the service says meanwhile', () => {
    const world = new World().goDraining();
    world.says({ message_type: 'max_duration_reached', data: {} });
    world.says({ message_type: 'session_revoked', data: {} });
    world.error({ code: 'SERVICE_TIMEOUT' });
    world.error({ reason: 'intent_mismatch' });
    world.says({ message_type: 'current_task', data: { task_status: 'running' } });
    world.says({ message_type: 'task_status', data: { task_status: 'running' } });
    world.open();
    expect(world.phase).toBe('draining');
    expect(world.state.counts).toMatchObject({ failures: 0, revocations: 0, maxDurations: 0 });
  });

  it('plays nothing more, and hears nothing more', () => {
    const world = new World().goDraining();
    world.hear('a', 500);
    world.capture();
    world.fault('capture');
    expect(world.all('play')).toHaveLength(0);
    expect(world.accounts.captured).toBe(0);
  });

  it('is not failed by pings that nobody answers', () => {
    const world = new World({ settings: { drainMs: 100_000 } }).goLive();
    world.pongs = false;
    world.stop();
    world.pass(90_000);
    expect(world.phase).toBe('draining');
    expect(world.all('ping')).toHaveLength(0);
  });

  it('is followed by a new session when somebody started the lane meanwhile', () => {
    const world = new World().goDraining();
    world.start();
    expect(world.phase).toBe('draining');
    world.says(EOS);
    expect(world.phase).toBe('acquiring');
    expect(world.all('open_capture')).toHaveLength(2);
    expect(world.last('request_token')).toMatchObject({ id: 'test-2', reason: 'start' });
    world.grant();
    world.open();
    world.taskRuns();
    world.speak(3);
    expect(world.wire).toBe('sss');
  });

  it('is not, when it was stopped again after that', () => {
    const world = new World().goDraining();
    world.start();
    world.stop();
    world.says(EOS);
    expect(world.phase).toBe('idle');
  });
});

describe('shutdown', () => {
  it.each(['idle', 'standby', 'acquiring', 'connecting', 'configuring', 'waiting', 'parked'] as const)(
    'while %s: closed at once',
    (phase) => {
      const world = WORLD_IN[phase]();
      world.shutdown();
      expect(world.phase).toBe('closed');
      expect(world.timers.size).toBe(0);
    },
  );

  it.each(['live', 'draining', 'rolling', 'rolling, ready', 'live, retiring', 'live, changing its task'])(
    'while %s: closed when the stream is ended',
    (name) => {
      const world = situation(name);
      const hearing = world.state.stream?.id ?? 0;
      world.shutdown();
      expect(world.phase).toBe('draining');
      world.says(EOS, hearing);
      expect(world.phase).toBe('closed');
      expect(world.timers.size).toBe(0);
      expect(world.all('end_task')).toHaveLength(1);
    },
  );

  it('is done within three seconds, whatever the service does', () => {
    const world = new World().goLive();
    world.pongs = false;
    world.shutdown();
    world.pass(3000);
    expect(world.phase).toBe('closed');
  });

  it('is not undone by a start', () => {
    const world = new World().goLive();
    world.shutdown();
    world.start();
    world.says(EOS);
    expect(world.phase).toBe('closed');
    const idle = new World();
    idle.shutdown();
    idle.start();
    expect(idle.phase).toBe('closed');
    expect(idle.log).toEqual([]);
  });

  it('is the end: nothing that comes later does anything', () => {
    const world = new World().goLive();
    world.shutdown();
    world.end();
    const { state } = world;
    world.start();
    world.grant();
    world.capture();
    world.line(false);
    world.step({ type: 'timer', timer: 'retry' });
    expect(world.state).toBe(state);
  });
});

describe('a stream that was ended on this side', () => {
  it.each([
    ['service', 'protocol_error'],
    ['agent', 'internal_error'],
  ] as const)(
    'by a fault of the %s is reported as such, in words, and followed by another',
    (fault, cause) => {
      const world = new World().goLive();
      world.step({ type: 'broke', stream: world.stream, fault, message: 'the agent closed the stream: why' });
      expect(world.state.problem).toMatchObject({ code: cause, message: 'the agent closed the stream: why' });
      expect(world.all('notify').find(({ kind }) => kind === 'session_ended')?.detail).toMatchObject({
        cause,
      });
      world.comeBack();
      expect(world.phase).toBe('live');
    },
  );
});
