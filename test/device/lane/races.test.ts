import { describe, expect, it } from 'vitest';
import { fork } from './fork.ts';
import { LaneHarness } from './lane-harness.ts';
import { describeRaces } from './races.ts';

/** The long test runs all 120 orders. */
describeRaces(10);

describe('a repeated `opened` of a stream', () => {
  it('is not applied to its successor', () => {
    const lane = new LaneHarness().goRolling();
    lane.grant();
    lane.step({ type: 'opened', stream: 1 });
    expect(lane.setup).toMatchObject({ stage: 'connecting', stream: { id: 2 } });
    expect(lane.all('send_task')).toHaveLength(1);
  });
});

describe('a forked world', () => {
  it('is independent of the original', () => {
    const lane = new LaneHarness().goLive();
    const twin = fork(lane);
    twin.speak(3);
    expect(lane.wire).toBe('');
    expect(twin.wire).toBe('sss');
    lane.speak(2);
    expect(lane.wire).toBe('ss');
  });
});
