import { describe, expect, it } from 'vitest';
import { LaneHarness } from './lane-harness.ts';

describe('an answer that brings no stream leaves the request open to a usable one', () => {
  const forged: Record<string, (lane: LaneHarness) => void> = {
    'a denial': (lane) => lane.deny({ retryAfterMs: 600_000 }),
    'a final denial': (lane) => lane.deny({ final: true }),
    'a session for another host': (lane) =>
      lane.step({ type: 'unusable', id: lane.last('request_token').id, message: 'no' }),
    'a session for another product': (lane) => lane.grant({ intent: 'stt' }),
    'a session whose window is over': (lane) => lane.grant({ windowMs: 0 }),
  };
  it.each(Object.entries(forged))('after %s', (_, forge) => {
    const lane = new LaneHarness().goAcquiring();
    forge(lane);
    lane.grant();
    expect(lane.phase).toBe('connecting');
    expect(lane.last('open_stream').grant).toBe('test-1');
    expect(lane.timers.has('retry')).toBe(false);
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
  });

  it.each(Object.entries(forged))('after %s beside a live session', (_, forge) => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 120_000 });
    lane.until(() => lane.all('request_token').length === 2, 120_000);
    forge(lane);
    expect(lane.phase).toBe('live');
    lane.grant();
    lane.pass(1);
    expect(lane.last('open_stream').grant).toBe('test-2');
    expect(lane.all('request_token')).toHaveLength(2);
  });

  it('until the lane asks again', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.deny();
    lane.until(() => lane.phase === 'acquiring', 120_000);
    lane.step({ type: 'granted', grant: lane.grantFor('test-1') });
    expect(lane.phase).toBe('acquiring');
    expect(lane.last('forget_grant').grant).toBe('test-1');
  });

  it('until the lane is stopped', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.deny();
    lane.stop();
    lane.grant();
    expect(lane.phase).toBe('idle');
    expect(lane.last('forget_grant').grant).toBe('test-1');
  });

  it('but not to a second useless one, which neither reports nor waits again', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.deny();
    const dueAt = lane.due('retry');
    for (const forge of Object.values(forged)) forge(lane);
    expect(lane.notes).toEqual(['refused']);
    expect(lane.due('retry')).toBe(dueAt);
    expect(lane.phase).toBe('waiting');
  });
});
