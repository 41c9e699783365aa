import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { laneStatus } from '../../../src/device/status/status-rules.ts';
import { finished, limit, pushed, ready, refused } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';
import { LANE_IN, situation } from './situations.ts';

const EOS = finished();

describe('stop', () => {
  it.each(['standby', 'acquiring', 'connecting', 'configuring', 'waiting', 'parked'] as const)(
    'while %s: idle at once, nothing left behind',
    (phase) => {
      const lane = LANE_IN[phase]();
      if (phase === 'standby') lane.options({ muted: true });
      lane.speak(3);
      lane.stop();
      expect(lane.phase).toBe('idle');
      expect(lane.timers.size).toBe(0);
      expect(lane.state).toMatchObject({ session: { kind: 'idle' }, wanted: false });
      expect(lane.accounts).toMatchObject({ captured: 3, dropped: 3, lost: 0, held: 0 });
      expect(lane.last('close_capture')).toBeDefined();
      lane.pass(600_000);
      expect(lane.phase).toBe('idle');
    },
  );

  it.each(['live', 'rolling', 'rolling, ready', 'live, changing its task'])(
    'while %s: ends the task and waits for the service',
    (name) => {
      const lane = situation(name);
      lane.hear('a', 2000);
      lane.stop();
      expect(lane.phase).toBe('draining');
      expect(lane.last('end_task').stream).toBe(1);
      expect(lane.all('flush_playback')).toHaveLength(1);
      lane.pass(500);
      lane.says(EOS, 1);
      expect(lane.phase).toBe('idle');
      expect(lane.last('close_stream')).toMatchObject({ stream: 1, how: 'close' });
      expect(lane.timers.size).toBe(0);
    },
  );

  it('while configuring closes the stream cleanly, because the service has a task', () => {
    const lane = LANE_IN.configuring();
    lane.stop();
    expect(lane.last('close_stream')).toMatchObject({ stream: 1, how: 'close' });
    expect(lane.notes).toEqual([]);
  });

  it('while connecting cuts the connection and forgets its token', () => {
    const lane = LANE_IN.connecting();
    lane.stop();
    expect(lane.last('close_stream')).toMatchObject({ stream: 1, how: 'terminate' });
    expect(lane.last('forget_grant').grant).toBe('test-1');
    lane.open();
    expect(lane.phase).toBe('idle');
    expect(lane.all('send_task')).toHaveLength(0);
  });

  it('while idle does nothing', () => {
    const lane = new LaneHarness();
    lane.stop();
    expect(lane.log).toEqual([]);
    expect(lane.phase).toBe('idle');
  });

  it('twice is stop once', () => {
    const lane = new LaneHarness().goDraining();
    lane.stop();
    expect(lane.all('end_task')).toHaveLength(1);
    expect(lane.phase).toBe('draining');
  });

  it('publishes the end of the session', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(5);
    lane.stop();
    lane.says(EOS);
    expect(lane.all('notify').find(({ kind }) => kind === 'session_ended')).toMatchObject({
      detail: { session: 'test-1...', cause: 'stopped', live_ms: 1600 },
    });
  });
});

describe('a drain', () => {
  it('ends when the connection does, however it does', () => {
    for (const how of [
      (lane: LaneHarness) => lane.end('closed'),
      (lane: LaneHarness) => lane.end('cut', { reason: 'session_revoked' }),
      (lane: LaneHarness) => lane.refuse(),
      (lane: LaneHarness) => lane.unreach(false),
      (lane: LaneHarness) => lane.unreach(true),
    ]) {
      const lane = new LaneHarness().goDraining();
      how(lane);
      expect(lane.phase).toBe('idle');
      expect(lane.state).toMatchObject({ session: { kind: 'idle' }, failures: 0 });
    }
  });

  it('is cut off when it takes too long', () => {
    const lane = new LaneHarness().goDraining();
    lane.pass(LANE_DEFAULTS.drainMs - 1);
    expect(lane.phase).toBe('draining');
    lane.pass(1);
    expect(lane.phase).toBe('idle');
    expect(lane.last('close_stream').stream).toBe(1);
  });

  it('ignores messages of the service meanwhile', () => {
    const lane = new LaneHarness().goDraining();
    lane.says(limit('max_duration'));
    lane.says(limit('revoked'));
    lane.says(refused('service_timeout'));
    lane.says(refused('intent_mismatch'));
    lane.says(ready());
    lane.says(pushed('running'));
    lane.open();
    expect(lane.phase).toBe('draining');
    expect(lane.state.counts).toMatchObject({ failures: 0, revocations: 0, maxDurations: 0 });
  });

  it('plays nothing more, and captures nothing more', () => {
    const lane = new LaneHarness().goDraining();
    lane.hear('a', 500);
    lane.capture();
    lane.fault('capture');
    expect(lane.all('play')).toHaveLength(0);
    expect(lane.accounts.captured).toBe(0);
  });

  it('does not fail when pings stay unanswered', () => {
    const lane = new LaneHarness({ settings: { drainMs: 100_000 } }).goLive();
    lane.pongs = false;
    lane.stop();
    lane.pass(90_000);
    expect(lane.phase).toBe('draining');
    expect(lane.all('ping')).toHaveLength(0);
  });

  it('is followed by a new session when the lane was started meanwhile', () => {
    const lane = new LaneHarness().goDraining();
    const { stream } = lane;
    lane.start();
    expect(lane.phase).toBe('acquiring');
    expect(lane.last('close_stream')).toMatchObject({ stream });
    expect(lane.all('open_capture')).toHaveLength(2);
    expect(lane.last('request_token')).toMatchObject({ id: 'test-2', reason: 'start' });
    // Speech is held for the next session from now on.
    lane.speak(1);
    lane.grant();
    lane.open();
    lane.taskRuns();
    lane.speak(3);
    expect(lane.wire).toBe('ssss');
  });

  it('ends at once when a schedule opens again meanwhile', () => {
    const lane = new LaneHarness().goLive();
    lane.hold('closed');
    lane.until(() => lane.phase === 'draining', 30_000);
    lane.hold(null);
    expect(lane.phase).toBe('acquiring');
    lane.speak(1);
    expect(lane.state.backlog.chunks).toHaveLength(1);
  });

  it('is followed by no session when the lane was stopped again after that', () => {
    const lane = new LaneHarness().goDraining();
    lane.start();
    lane.stop();
    lane.says(EOS);
    expect(lane.phase).toBe('idle');
  });
});

describe('a stopped lane', () => {
  it('loses the speech held during a change of its languages', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } });
    lane.goLive();
    lane.options({ targets: ['de'] });
    lane.speak(10);
    lane.stop();
    lane.says(EOS);
    const lost = lane.all('notify').filter(({ kind }) => kind === 'speech_lost');
    expect(lost).toMatchObject([{ detail: { lost_ms: 3200, cause: 'stopped' } }]);
  });

  it('reports unplayed speech when it stops, although it is started again at once', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } });
    lane.goLive();
    lane.speak(10);
    lane.stop();
    lane.start();
    const lost = lane.all('notify').filter(({ kind }) => kind === 'speech_lost');
    expect(lost).toMatchObject([{ detail: { lost_ms: 3200, cause: 'stopped' } }]);
    expect(lane.state.loss).toBeNull();
    expect(laneStatus(lane.state, lane.now).reasons).toEqual([]);
  });
});

describe('shutdown', () => {
  it.each(['idle', 'standby', 'acquiring', 'connecting', 'configuring', 'waiting', 'parked'] as const)(
    'while %s: closed at once',
    (phase) => {
      const lane = LANE_IN[phase]();
      lane.shutdown();
      expect(lane.phase).toBe('closed');
      expect(lane.timers.size).toBe(0);
    },
  );

  it.each(['live', 'draining', 'rolling', 'rolling, ready', 'live, old session', 'live, changing its task'])(
    'while %s: closed when the stream is ended',
    (name) => {
      const lane = situation(name);
      const hearing = lane.hearing?.id ?? 0;
      lane.shutdown();
      expect(lane.phase).toBe('draining');
      lane.says(EOS, hearing);
      expect(lane.phase).toBe('closed');
      expect(lane.timers.size).toBe(0);
      expect(lane.all('end_task')).toHaveLength(1);
    },
  );

  it('ends within three seconds, whatever the service does', () => {
    const lane = new LaneHarness().goLive();
    lane.pongs = false;
    lane.shutdown();
    lane.pass(3000);
    expect(lane.phase).toBe('closed');
  });

  it('is not undone by a start', () => {
    const lane = new LaneHarness().goLive();
    lane.shutdown();
    lane.start();
    lane.says(EOS);
    expect(lane.phase).toBe('closed');
    const idle = new LaneHarness();
    idle.shutdown();
    idle.start();
    expect(idle.phase).toBe('closed');
    expect(idle.log).toEqual([]);
  });

  it('is final: later events have no effect', () => {
    const lane = new LaneHarness().goLive();
    lane.shutdown();
    lane.end();
    const { state } = lane;
    lane.start();
    lane.grant();
    lane.capture();
    lane.brokerIs(false);
    lane.step({ type: 'timer', timer: 'retry' });
    expect(lane.state).toBe(state);
  });
});

describe('a stream that was ended on this side', () => {
  it.each([
    ['service', 'protocol_error'],
    ['agent', 'internal_error'],
  ] as const)(
    'by a fault of the %s is reported as such, in words, and followed by another',
    (fault, cause) => {
      const lane = new LaneHarness().goLive();
      lane.step({ type: 'broke', stream: lane.stream, fault, message: 'the agent closed the stream: why' });
      expect(lane.state.problem).toMatchObject({ code: cause, message: 'the agent closed the stream: why' });
      expect(lane.all('notify').find(({ kind }) => kind === 'session_ended')?.detail).toMatchObject({
        cause,
      });
      lane.comeBack();
      expect(lane.phase).toBe('live');
    },
  );
});
