import { describe, expect, it } from 'vitest';
import { warned } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

const SLOW = warned('warning', { code: 'AUDIO_STREAM_TOO_SLOW', text: 'slower than real time' });
const WORDS = { code: 'service_audio_stream_too_slow', message: 'slower than real time' };

describe('a warning of the service', () => {
  it('is reported beside a real problem, not in its place', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('capture');
    const { problem } = lane.state;
    lane.says(SLOW);
    expect(lane.state.problem).toBe(problem);
    expect(lane.state.warning).toMatchObject(WORDS);
  });

  it('disappears after a minute of the stream', () => {
    const lane = new LaneHarness().goLive();
    lane.says(SLOW);
    lane.pass(40_000);
    lane.says(SLOW);
    lane.pass(50_000);
    expect(lane.state.warning).toMatchObject(WORDS);
    lane.pass(20_000);
    expect(lane.state.warning).toBeNull();
  });

  it('disappears with its session', () => {
    const lane = new LaneHarness().goLive();
    lane.says(SLOW);
    lane.end();
    expect(lane.state.warning).toBeNull();
    expect(lane.timers.has('warning')).toBe(false);
    expect(lane.state.problem?.code).toBe('network');
  });

  it('arms few timers in a flood', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 3000; i++) {
      lane.says(SLOW);
      lane.pass(1);
    }
    expect(lane.all('arm').filter(({ timer }) => timer === 'warning').length).toBeLessThan(3);
  });
});
