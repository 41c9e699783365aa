import { describe, expect, it } from 'vitest';
import { refused } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';
import { testRoom, testTokens, tokens } from './one-stream.ts';

describe('an account with room for one stream', () => {
  testTokens({ atUpgrade: 12, inMessage: 12 });
  testRoom();
});

describe('a token that was refused because of the limit of streams', () => {
  it('is used for the next session when there is room', () => {
    const lane = new LaneHarness().goMakingRoom();
    lane.end('closed', {}, 1);
    lane.until(() => lane.phase === 'connecting', 2000);
    expect(lane.last('open_stream').grant).toBe(lane.last('request_token').id);
    expect(tokens(lane)).toBe(2);
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
  });

  it('is not used after its window', () => {
    const lane = new LaneHarness().goRolling();
    lane.speak(3);
    lane.grant({ windowMs: 15_000 });
    lane.refuse('session_limit_reached', { status: 409 });
    while (lane.phase !== 'waiting') lane.speak(1);
    lane.end('closed', {}, 1);
    lane.until(() => lane.phase === 'acquiring', 2000);
    expect(tokens(lane)).toBe(3);
  });

  it('does not count as an attempt that did not reach the service', () => {
    const lane = new LaneHarness().goConnecting({ windowMs: 600_000 });
    for (let tries = 0; tries < 5; tries++) {
      lane.refuse('session_limit_reached', { status: 409 });
      expect(lane.lease?.unreached).toBe(0);
      lane.until(() => lane.phase === 'connecting', 130_000);
    }
    expect(tokens(lane)).toBe(1);
    expect(lane.notes).not.toContain('unreachable');
  });

  it('is spent if the connection had been opened', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.says(refused('session_limit_reached'));
    expect(lane.lease).toBeNull();
    lane.until(() => lane.phase === 'acquiring', 10_000);
    expect(tokens(lane)).toBe(2);
  });
});
