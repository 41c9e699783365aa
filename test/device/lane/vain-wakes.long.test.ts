import { describe, expect, it } from 'vitest';
import { asleep, chunks, hear, wakeInVain } from './woken-lane.ts';

describe('a room in which a lane wakes in vain', () => {
  it('is no longer reported after an hour, also when the lane stays awake', () => {
    const lane = asleep();
    for (let time = 0; time < 4; time++) wakeInVain(lane, 5);
    expect(lane.state.captureFindings).toEqual(['noisy_room']);
    lane.options({ standbyAfterMs: 0 });
    lane.start();
    hear(lane, chunks(3700, -5));
    expect(lane.phase).not.toBe('standby');
    expect(lane.state.captureFindings).toEqual([]);
    expect(lane.all('notify').filter(({ kind }) => kind === 'capture_problem_over')).toHaveLength(1);
  });
});
