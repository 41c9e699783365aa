import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../src/device/lane/lane-report.ts';
import { refused } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

const lastError = (lane: LaneHarness) =>
  reportLane('main', lane.state, { capture: 'mic', playback: 'speaker' }, (at) => `at ${at}`).last_error;
const lost = (lane: LaneHarness): unknown[] =>
  lane.all('notify').flatMap(({ kind, detail }) => (kind === 'audio_lost' ? [detail['message']] : []));
const fail = (lane: LaneHarness, device: 'capture' | 'playback', message: string, code = 'failed') =>
  lane.step({ type: 'audio_fault', device, code, message });

describe('the last error of a lane', () => {
  it.each(['capture', 'playback'] as const)('names the %s for as long as it is lost', (device) => {
    const lane = new LaneHarness().goAcquiring();
    fail(lane, device, 'it is not there', 'not_found');
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    expect(lastError(lane)).toMatchObject({ code: `${device}_not_found`, message: 'it is not there' });
    lane.pass(30_000);
    expect(lastError(lane)).toMatchObject({ code: `${device}_not_found` });
    if (device === 'capture') lane.speak(1);
    else lane.step({ type: 'playback_back' });
    expect(lastError(lane)).toBeNull();
  });

  it('stays that of the other device when one recovers, and is cleared when both have', () => {
    const lane = new LaneHarness().goLive();
    fail(lane, 'playback', 'no loudspeaker');
    lane.pass(1000);
    fail(lane, 'capture', 'no microphone');
    expect(lastError(lane)).toMatchObject({ message: 'no microphone' });
    lane.speak(1);
    expect(lastError(lane)).toMatchObject({ message: 'no loudspeaker' });
    lane.step({ type: 'playback_back' });
    expect(lastError(lane)).toBeNull();
  });

  it('coexists with a refusal of the service', () => {
    const lane = new LaneHarness().goLive();
    lane.says(refused('insufficient_balance'));
    const { problem } = lane.state;
    expect(problem).not.toBeNull();
    lane.pass(10);
    fail(lane, 'playback', 'no loudspeaker');
    expect(lane.state.problem).toEqual(problem);
    expect(lastError(lane)).toMatchObject({ code: 'playback_failed' });
    lane.step({ type: 'playback_back' });
    expect(lastError(lane)).toMatchObject({ code: problem?.code });
  });

  it('follows the cause of an outage, and each cause causes one event', () => {
    const lane = new LaneHarness().goLive();
    for (const message of ['it ended', 'it ended', 'it is not there', 'it is not there'])
      fail(lane, 'playback', message);
    expect(lastError(lane)).toMatchObject({ message: 'it is not there' });
    expect(lost(lane)).toEqual(['it ended', 'it is not there']);
  });

  it('is cleared at a stop, for the microphone', () => {
    const lane = new LaneHarness().goLive();
    fail(lane, 'capture', 'no microphone');
    lane.stop();
    expect(lastError(lane)).toBeNull();
  });
});
