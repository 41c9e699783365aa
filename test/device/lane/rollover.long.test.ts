import { describe, expect, it } from 'vitest';
import { LaneHarness } from './lane-harness.ts';
import { testMinuteSessions } from './minute-sessions.ts';

describe('a rollover', () => {
  it('never happens to a session without a limit, for 20 minutes', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(4000);
    expect(lane.phase).toBe('live');
    expect(lane.all('open_stream')).toHaveLength(1);
  });
});

describe('sessions of 60 s over an hour', () => {
  testMinuteSessions(60);
});
