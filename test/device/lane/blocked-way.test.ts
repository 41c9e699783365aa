import { expect, it } from 'vitest';
import { finished } from '../../service-events.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

const unspoken = (lane: LaneHarness) => lane.all('notify').filter(({ kind }) => kind === 'unspoken');

/** A sentence of which more than half has come when the connection is blocked for 6 s. */
function block(): LaneHarness {
  const lane = new LaneHarness({ settings: { stuckMs: 1e9, pingsMissed: 99 } }).goLive();
  for (const id of ['x', 'y', 'z']) {
    lane.speak(2);
    lane.hush(4);
    lane.understands(id);
    lane.hear(id, 600, true);
    lane.hush(4);
  }
  lane.speak(10);
  lane.hush(4);
  lane.understands('a');
  lane.translates('a', 60);
  lane.hear('a', 2400);
  lane.pongs = false;
  lane.hush(Math.ceil(6000 / CHUNK_MS));
  return lane;
}
const signs = (lane: LaneHarness, ms: number): void => {
  for (let sign = 0; sign < ms / 500; sign++) {
    lane.step({ type: 'pong', stream: lane.stream });
    lane.pass(500);
  }
};

it.each([100, 1500, 3000])(
  'the rest of a translation may come %i ms after a blocked way has opened',
  (ms) => {
    const lane = block();
    signs(lane, ms);
    lane.hear('a', 1500, true);
    signs(lane, 20_000);
    expect(unspoken(lane)).toEqual([]);
  },
);

it('counts the missing rest of a translation at the end of the session, after a blocked connection', () => {
  const lane = block();
  signs(lane, 8000);
  lane.stop();
  lane.says(finished());
  expect(unspoken(lane).map(({ detail }) => detail)).toMatchObject([{ language: 'es', sentences: 1 }]);
});
