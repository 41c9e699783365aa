import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

function congest(lane: LaneHarness, stream = 1): void {
  lane.step({ type: 'congested', stream });
}

function drain(lane: LaneHarness, stream = 1): void {
  lane.step({ type: 'drained', stream });
}

describe('a connection that is slower than speech', () => {
  it('holds speech, and sends it when the congestion is over', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(3);
    congest(lane);
    lane.speak(5);
    expect(lane.wire).toBe('sss');
    expect(lane.accounts).toMatchObject({ held: 5, lost: 0 });
    congest(lane);
    drain(lane);
    lane.hush(20);
    expect(lane.accounts).toMatchObject({ held: 0, lost: 0, dropped: 0 });
    expect(lane.all('send_audio')[3]?.queued).toBe(true);
  });

  it('sends no silence during the congestion either', () => {
    const lane = new LaneHarness().goLive();
    congest(lane);
    lane.pass(5000);
    expect(lane.wire).toBe('');
    drain(lane);
    lane.pass(2000);
    expect(lane.wire).toMatch(/^f+$/);
  });

  it('counts as dead when no byte leaves, although pings seem to be answered', () => {
    const lane = new LaneHarness().goLive();
    congest(lane);
    const { now } = lane;
    lane.until(() => lane.phase === 'waiting', 30_000);
    expect(lane.now - now).toBeGreaterThanOrEqual(LANE_DEFAULTS.stuckMs);
    expect(lane.now - now).toBeLessThanOrEqual(LANE_DEFAULTS.stuckMs + LANE_DEFAULTS.pingMs + 10);
    expect(lane.state.problem?.code).toBe('unresponsive');
  });

  it('has no consequence when it recovers soon', () => {
    const lane = new LaneHarness().goLive();
    drain(lane);
    lane.speak(2);
    expect(lane.wire).toBe('ss');
  });

  it('of an old session: no audio is sent to it, and the new one goes on', () => {
    const lane = new LaneHarness().goOldSession();
    congest(lane, 1);
    const fed = lane.all('send_audio').filter(({ stream }) => stream === 1).length;
    lane.speak(4);
    expect(lane.all('send_audio').filter(({ stream }) => stream === 1)).toHaveLength(fed);
    expect(lane.accounts.held).toBe(0);
  });

  it('does not affect the next session', () => {
    const lane = new LaneHarness().goReady();
    congest(lane, 1);
    lane.speak(2);
    expect(lane.accounts.held).toBe(2);
    lane.end('cut', {}, 1);
    lane.pass(CHUNK_MS * 20);
    lane.hush(10);
    expect(lane.accounts).toMatchObject({ held: 0, lost: 0 });
  });
});
