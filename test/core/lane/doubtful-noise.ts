import { expect, it } from 'vitest';
import { comesBack, inDoubt, MINUTE_CHUNKS } from './silent-twice.ts';

/** @param chunks of noise that is taken for speech, in one session */
export function testNoise(chunks: number): void {
  it('is not told when the session that took it understands somebody: it was never dead', () => {
    const { lane } = inDoubt();
    const { lost } = lane.accounts;
    lane.speak(chunks);
    lane.understands('a');
    lane.hear('a', 120_000, true);
    lane.hush(10);
    comesBack(lane);
    expect([lane.accounts.lost, lane.state.doubtful]).toEqual([lost, null]);
  });

  it('is not told when the next session took such sound, too, before it understood somebody', () => {
    const { lane } = inDoubt();
    const { lost } = lane.accounts;
    lane.speak(chunks);
    lane.end();
    lane.until(() => lane.phase === 'live', 20_000);
    lane.speak(2 * MINUTE_CHUNKS);
    expect(lane.state.doubtful).not.toBeNull();
    lane.understands('a');
    expect([lane.accounts.lost, lane.state.doubtful]).toEqual([lost, null]);
  });
}
