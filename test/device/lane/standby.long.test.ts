import { describe, expect, it } from 'vitest';
import { behave } from './behaviour.ts';
import { LaneHarness } from './lane-harness.ts';

describe('hours of standby and speech', () => {
  it('do not let the state grow', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 30_000, echo: 'off' } });
    behave(lane, { maxDurationMs: 60_000 });
    lane.start();
    const sizes: number[] = [];
    for (let hour = 0; hour < 3; hour++) {
      for (let i = 0; i < 200; i++) {
        lane.speak(20);
        lane.hush(i % 50 === 49 ? 150 : 20);
      }
      sizes.push(JSON.stringify(lane.state, (_, value) => (ArrayBuffer.isView(value) ? 0 : value)).length);
      lane.log.length = 0;
    }
    expect(lane.now).toBeGreaterThan(3 * 2_400_000);
    expect(Math.max(...sizes)).toBeLessThan(40_000);
    expect((sizes[2] ?? 0) - (sizes[0] ?? 0)).toBeLessThan(3000);
  });
});
