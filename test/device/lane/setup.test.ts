import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { pushed, ready } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

const RUNNING = ready();

/** Times of all effects of one kind since a moment. */
function since(lane: LaneHarness, type: 'poll_task' | 'send_task' | 'ping', from: number): number[] {
  return lane.all(type).map(({ at }) => at - from);
}

describe('from start to live', () => {
  it('requests a token, opens a stream, sets the task, polls it, and sends audio', () => {
    const lane = new LaneHarness({ options: { source: 'de', targets: ['fr', 'it'], voice: 'default_low' } });
    lane.brokerIs(true);
    lane.start();
    expect(lane.log.map(({ type }) => type)).toEqual(['open_capture', 'request_token', 'arm']);
    expect(lane.last('request_token')).toMatchObject({ id: 'test-1', reason: 'start', attempt: 1 });

    lane.pass(800);
    lane.grant();
    expect(lane.phase).toBe('connecting');
    expect(lane.last('open_stream')).toMatchObject({ stream: 1, grant: 'test-1' });

    lane.pass(500);
    lane.open();
    expect(lane.phase).toBe('configuring');
    expect(lane.last('forget_grant').grant).toBe('test-1');
    expect(lane.last('send_task')).toMatchObject({
      stream: 1,
      source: 'de',
      targets: ['fr', 'it'],
      voice: 'default_low',
    });

    lane.pass(LANE_DEFAULTS.firstPollMs);
    expect(lane.all('poll_task')).toHaveLength(1);
    lane.says(RUNNING);
    expect(lane.phase).toBe('live');
    expect(lane.notes).toEqual(['session_started']);
    expect(lane.last('notify').detail).toEqual({
      session: 'test-1...',
      stream_host: 'stream.example',
      reason: 'start',
    });
    expect(lane.state.counts).toMatchObject({ sessions: 1, failures: 0, rollovers: 0 });

    lane.speak(5);
    expect(lane.wire).toBe('sssss');
  });

  it('sends held speech first, and nothing before the task runs', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.speak(2);
    lane.grant();
    lane.speak(2);
    lane.open();
    lane.speak(2);
    expect(lane.wire).toBe('');
    expect(lane.accounts).toMatchObject({ captured: 6, held: 6 });
    lane.taskRuns();
    expect(lane.wire).toBe('s');
    lane.speak(5);
    expect(lane.all('send_audio').map(({ capturedAt }) => capturedAt)).toEqual(
      Array.from({ length: 6 }, (_, i) => 50_000 + (i + 1) * 320),
    );
    expect(lane.all('send_audio').every(({ queued }) => queued)).toBe(true);
  });

  it('polls on while the pipeline has not started, no more than once in 2 s (docs/service.md 8', () => {
    const lane = new LaneHarness().goConfiguring();
    const { now } = lane;
    for (let i = 0; i < 4; i++) {
      lane.until(() => lane.all('poll_task').length === i + 1, 3000);
      lane.pass(100);
      lane.says(ready('none'));
      expect(lane.phase).toBe('configuring');
      expect(lane.state.problem).toBeNull();
    }
    expect(since(lane, 'poll_task', now)).toEqual([650, 2700, 4750, 6800]);
    lane.says(RUNNING);
    expect(lane.phase).toBe('live');
    lane.pass(10_000);
    expect(lane.all('poll_task')).toHaveLength(4);
  });

  it.each(['paused', 'unclear'] as const)('does not go live with a task status "%s"', (task) => {
    const lane = new LaneHarness().goConfiguring();
    lane.pass(700);
    lane.says(ready(task));
    expect(lane.phase).toBe('configuring');
  });

  it('ignores an answer without a poll', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.says(RUNNING);
    expect(lane.phase).toBe('configuring');
    lane.taskRuns();
    expect(lane.phase).toBe('live');
  });

  it('polls at once when the service announces that the task runs', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.pass(200);
    lane.says(pushed('running'));
    lane.pass(0);
    expect(lane.all('poll_task')).toHaveLength(1);
    lane.says(RUNNING);
    expect(lane.phase).toBe('live');
  });

  it('polls after such a message as soon as allowed, when it has polled lately', () => {
    const lane = new LaneHarness().goConfiguring();
    const { now } = lane;
    lane.pass(1000);
    lane.says(ready('none'));
    lane.says(pushed('running'));
    lane.pass(2000);
    expect(since(lane, 'poll_task', now)).toEqual([650, 2700]);
  });

  it('ignores other such messages, and those on a live stream', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.says(pushed('paused'));
    lane.says(pushed('unclear'));
    expect(lane.due('poll')).toBe(LANE_DEFAULTS.firstPollMs);
    lane.taskRuns();
    lane.says(pushed('running'));
    lane.says(RUNNING);
    expect(lane.phase).toBe('live');
    expect(lane.timers.has('poll')).toBe(false);
  });

  it('fails when the connection does not open in time', () => {
    const lane = new LaneHarness().goConnecting();
    lane.pass(LANE_DEFAULTS.firstConnectMs - 1);
    expect(lane.phase).toBe('connecting');
    lane.pass(1);
    expect(lane.phase).toBe('waiting');
    expect(lane.state.problem?.code).toBe('setup_timeout');
    expect(lane.last('close_stream')).toMatchObject({ stream: 1, how: 'terminate' });
    expect(lane.notes).toEqual([]);
  });

  it('asks for another address within 20 s when a host accepts connections and does not answer', () => {
    const lane = new LaneHarness().goConnecting();
    lane.until(() => lane.phase === 'acquiring', 20_000);
    expect(lane.all('request_token')).toHaveLength(2);
    expect(lane.now - lane.last('open_stream').at).toBeLessThanOrEqual(20_000);
  });

  it('doubles the time limit of a slow connection at each third failure, up to its bound', () => {
    const lane = new LaneHarness().goConnecting();
    const tookMs = Array.from({ length: 9 }, () => {
      const began = lane.last('open_stream').at;
      lane.until(() => lane.phase === 'waiting', 30_000);
      const took = lane.now - began;
      lane.until(() => lane.phase === 'acquiring', 200_000);
      lane.grant();
      return took;
    });
    const { firstConnectMs: first, connectMs: most } = LANE_DEFAULTS;
    expect(tookMs).toEqual([...Array(3).fill(first), ...Array(3).fill(2 * first), ...Array(3).fill(most)]);
  });

  it('fails when the task does not run in time', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.pass(LANE_DEFAULTS.setupMs - 1);
    expect(lane.phase).toBe('configuring');
    lane.pass(1);
    expect(lane.phase).toBe('waiting');
    expect(lane.state.problem?.code).toBe('setup_timeout');
    expect(lane.last('close_stream')).toMatchObject({ stream: 1, how: 'terminate' });
  });

  it('pings regularly while it is live', () => {
    const lane = new LaneHarness().goLive();
    const liveAt = lane.now;
    const { pingMs } = LANE_DEFAULTS;
    lane.pass(4.5 * pingMs);
    expect(since(lane, 'ping', liveAt)).toEqual([1, 2, 3, 4].map((times) => times * pingMs));
    expect(lane.phase).toBe('live');
  });

  it('ignores a repeated `opened`', () => {
    const lane = new LaneHarness().goLive();
    lane.open();
    expect(lane.phase).toBe('live');
    expect(lane.all('send_task')).toHaveLength(1);
  });

  it('ignores a second start', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.start();
    expect(lane.phase).toBe('configuring');
    expect(lane.all('open_capture')).toHaveLength(1);
  });
});
