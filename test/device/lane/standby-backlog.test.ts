import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

describe('standby', () => {
  it('waits until all speech is sent, spoken and played', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 2000 } }).goConfiguring();
    lane.speak(40);
    lane.taskRuns();
    lane.hush(10);
    expect(lane.phase).toBe('live');
    expect(lane.accounts.held).toBeGreaterThan(0);
    lane.hush(45);
    expect(lane.accounts.held).toBe(0);
    expect(lane.phase).toBe('live');
    lane.understands('a');
    lane.hear('a', 8000, true);
    lane.hush(10);
    expect(lane.phase).toBe('live');
    lane.hush(40);
    expect(lane.phase).toBe('standby');
    expect(lane.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('waits for a long backlog of old speech', () => {
    const lane = new LaneHarness({
      settings: { backlogMs: 60_000 },
      options: { standbyAfterMs: 2000 },
    }).goAcquiring();
    lane.speak(150);
    lane.grant();
    lane.open();
    lane.taskRuns();
    lane.hush(Math.ceil(LANE_DEFAULTS.answerMs / CHUNK_MS) + 20);
    expect(lane.phase).toBe('live');
    expect(lane.accounts.held).toBeGreaterThan(0);
    lane.hush(170);
    expect(lane.phase).toBe('standby');
    expect(lane.wire).toMatch(/s{150}/);
  });

  it('waits for a backlog also when all sent speech is spoken', () => {
    const lane = new LaneHarness({
      settings: { backlogMs: 60_000 },
      options: { standbyAfterMs: 2000 },
    }).goAcquiring();
    lane.speak(100);
    lane.hush(20);
    lane.grant();
    lane.open();
    lane.taskRuns();
    for (let i = 0; lane.accounts.held > 20; i++) {
      expect(lane.phase).toBe('live');
      lane.hush(1);
      lane.understands(`${i}`);
      lane.hear(`${i}`, 1, true);
    }
    expect(lane.wire).toMatch(/s{100}/);
    lane.hush(30);
    expect(lane.phase).toBe('standby');
  });
});
