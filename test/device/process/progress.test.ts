import { describe, expect, it } from 'vitest';
import { type LaneProgress, stuckLanes } from '../../../src/device/process/progress.ts';

const at = (more: Partial<LaneProgress> = {}): LaneProgress[] => [
  { lane: 'main', changes: 1, listens: true, chunks: 5, ...more },
];

describe('the check for stalled lanes', () => {
  it('reports a lane whose microphone worked while no sound was processed', () => {
    expect(stuckLanes(at(), at())).toEqual(['main']);
    expect(stuckLanes(at(), at({ chunks: 6 }))).toEqual([]);
  });

  it('reports no lane whose microphone is off, or was opened, closed or repaired meanwhile', () => {
    expect(stuckLanes(at({ listens: false }), at({ listens: false }))).toEqual([]);
    expect(stuckLanes(at(), at({ changes: 3 }))).toEqual([]);
    expect(stuckLanes([], at())).toEqual([]);
  });
});
