import { describe, expect, it } from 'vitest';
import { behave } from './behaviour.ts';
import { begin, lost, say, told } from './interim-texts.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

describe('the last sentence, of which the service gives no more than interim texts', () => {
  it.each([true, false])(
    'is told where the lane falls asleep before that; the service confirms the end: %s',
    (confirms) => {
      const lane = new LaneHarness({ options: { standbyAfterMs: 12_000 } }).goLive();
      behave(lane);
      say(lane, 'a', 3);
      lane.hush(10);
      begin(lane, 'b', 4);
      lane.until(() => lane.phase === 'standby', 29_000);
      expect(told(lane)).toEqual([]);
      if (confirms) lane.says({ message_type: 'eos', data: {} });
      lane.hush(30);
      expect(lane.state.oldSession).toBeNull();
      expect(lane.accounts.lost * CHUNK_MS).toBe(lost(4).lost_ms);
      expect(told(lane)).toMatchObject([{ lost_ms: lost(4).lost_ms }]);
    },
  );
});
