import { describe, expect, it } from 'vitest';
import { ends, HOUR_CHUNKS } from './asking-lane.ts';
import { testNoise } from './doubtful-noise.ts';
import { comesBack, inDoubt, MINUTE_CHUNKS } from './silent-twice.ts';

describe('noise that is taken for speech for an hour', () => {
  testNoise(HOUR_CHUNKS / 2);

  it('is not told when the session that took it is left an hour later, nor when somebody is understood after another', () => {
    const { lane } = inDoubt();
    const [{ lost }, since] = [lane.accounts, lane.now];
    while (ends(lane) < 3) lane.speak(20);
    expect(lane.now - since).toBeGreaterThan(3_400_000);
    expect([lane.accounts.lost, (lane.state.doubtful?.chunks ?? 0) > HOUR_CHUNKS * 0.9]).toEqual([
      lost,
      true,
    ]);
    lane.until(() => lane.phase === 'live', 20_000);
    lane.hush(HOUR_CHUNKS + 3 * MINUTE_CHUNKS);
    const { lost: before } = lane.accounts;
    comesBack(lane);
    lane.hush(MINUTE_CHUNKS);
    expect([lane.accounts.lost, lane.state.doubtful]).toEqual([before, null]);
  });
});
