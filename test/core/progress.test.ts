import { describe, expect, it } from 'vitest';
import { type LaneProgress, stuckLanes } from '../../src/core/progress.ts';

const at = (more: Partial<LaneProgress> = {}): LaneProgress[] => [
  { lane: 'main', changes: 1, listens: true, chunks: 5, ...more },
];

describe('a lane stands still', () => {
  it('when its microphone worked and no sound was processed', () => {
    expect(stuckLanes(at(), at())).toEqual(['main']);
    expect(stuckLanes(at(), at({ chunks: 6 }))).toEqual([]);
  });

  it('not without a microphone, nor when one was opened, closed or repaired meanwhile', () => {
    expect(stuckLanes(at({ listens: false }), at({ listens: false }))).toEqual([]);
    expect(stuckLanes(at(), at({ changes: 3 }))).toEqual([]);
    expect(stuckLanes([], at())).toEqual([]);
  });
});
