import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { LaneHarness } from './lane-harness.ts';

function requests(lane: LaneHarness) {
  return lane.all('request_token').map(({ id, attempt }) => `${id}#${attempt}`);
}

describe('while the broker is away', () => {
  it('holds audio and requests the token when the connection is back', () => {
    const lane = new LaneHarness();
    lane.start();
    expect(lane.phase).toBe('acquiring');
    lane.speak(20);
    lane.pass(600_000);
    expect(lane.all('request_token')).toHaveLength(0);
    expect(lane.accounts.held).toBe(20);
    lane.brokerIs(true);
    lane.until(() => requests(lane).length === 1, 10_000);
    expect(requests(lane)).toEqual(['test-1#1']);
    // The window of the token is counted from here, not from the start of the lane.
    lane.grant({ windowMs: 10_000 });
    expect(lane.phase).toBe('connecting');
  });

  it('a lane that has just started requests its token as soon as it is connected', () => {
    const lane = new LaneHarness();
    lane.start();
    lane.pass(900);
    lane.brokerIs(true);
    expect(requests(lane)).toEqual(['test-1#1']);
  });

  it.each([5000, 60_000, 3_600_000])(
    'after a wait of %i ms for the first connection, requests are spread over a second',
    (waitedMs) => {
      const waits = Array.from({ length: 200 }, (_, seed) => {
        const lane = new LaneHarness({ seed: seed * 7919 });
        lane.start();
        lane.pass(waitedMs);
        lane.brokerIs(true);
        expect(requests(lane)).toEqual([]);
        return lane.due('token');
      });
      expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
      expect(Math.max(...waits)).toBeGreaterThan(900);
      expect(Math.min(...waits)).toBeLessThan(100);
    },
  );

  it('a pending request is repeated soon after the reconnect, spread over a fleet', () => {
    const waits = Array.from({ length: 200 }, (_, seed) => {
      const lane = new LaneHarness({ seed: seed * 7919 }).goAcquiring();
      lane.brokerIs(false);
      expect(lane.timers.has('token')).toBe(false);
      lane.pass(10_000);
      expect(requests(lane)).toEqual(['test-1#1']);
      lane.brokerIs(true);
      const wait = lane.due('token');
      lane.pass(1000);
      expect(requests(lane)).toEqual(['test-1#1', 'test-1#2']);
      return wait;
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
    expect(Math.max(...waits)).toBeGreaterThan(900);
    expect(Math.min(...waits)).toBeLessThan(100);
  });

  it('a request that is too old gets a new id', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.brokerIs(false);
    lane.pass(LANE_DEFAULTS.tokenRequestLifeMs);
    lane.brokerIs(true);
    lane.pass(LANE_DEFAULTS.tokenRequestLifeMs / 10);
    expect(requests(lane)).toEqual(['test-1#1', 'test-2#2']);
  });

  it('a live stream goes on', () => {
    const lane = new LaneHarness().goLive();
    lane.brokerIs(false);
    lane.speak(40);
    lane.brokerIs(true);
    expect(lane.phase).toBe('live');
    expect(lane.wire).toBe('s'.repeat(40));
    expect(lane.all('request_token')).toHaveLength(1);
  });

  it('a lane that loses its stream waits for the connection and then continues', () => {
    const lane = new LaneHarness().goLive();
    lane.brokerIs(false);
    lane.end();
    lane.until(() => lane.phase === 'acquiring', 2000);
    lane.pass(300_000);
    expect(lane.all('request_token')).toHaveLength(1);
    lane.brokerIs(true);
    lane.until(() => lane.all('request_token').length === 2, 10_000);
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
  });
});
