import { describe, expect, it } from 'vitest';
import { LaneHarness } from './lane-harness.ts';

describe('the command start while a token request is pending', () => {
  it('repeats the request at once under the same id, at most every 2 s', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(1900);
    lane.start();
    expect(lane.all('request_token')).toHaveLength(1);
    lane.pass(100);
    for (let i = 0; i < 10; i++) lane.start();
    expect(lane.all('request_token').map(({ id, attempt }) => `${id} ${attempt}`)).toEqual([
      'test-1 1',
      'test-1 2',
    ]);
    lane.grant();
    expect(lane.phase).toBe('connecting');
  });

  it('sends no request without a connection to the broker', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.brokerIs(false);
    lane.pass(5000);
    lane.start();
    expect(lane.all('request_token')).toHaveLength(1);
  });

  it('shortens a long wait for a backend that does not answer', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(100_000);
    lane.until(() => lane.now - lane.last('request_token').at > 2000, 60_000);
    const before = lane.all('request_token').length;
    lane.start();
    expect(lane.all('request_token').length).toBe(before + 1);
  });
});
