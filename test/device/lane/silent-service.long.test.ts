import { describe, expect, it } from 'vitest';
import { ends, HOUR_CHUNKS, LaneHarness } from './asking-lane.ts';
import { behave } from './behaviour.ts';

describe('the end of a session because of a silent service', () => {
  it('comes at most twice in an hour of noise that is taken for speech, and later sessions are still asked', () => {
    const lane = new LaneHarness().goLive();
    behave(lane);
    lane.speak(HOUR_CHUNKS);
    expect(ends(lane)).toBe(2);
    expect(lane.all('poll_task').length).toBeGreaterThan(40);
    expect(lane.phase).toBe('live');
  });
});
