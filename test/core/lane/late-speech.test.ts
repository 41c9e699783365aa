import { describe, expect, it } from 'vitest';
import type { LaneOptions } from '../../../src/core/lane/lane-options.ts';
import { LaneHarness } from './lane-harness.ts';

const BYTES_A_MS = 48;
const events = (lane: LaneHarness): readonly Readonly<Record<string, unknown>>[] =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'speech_dropped')
    .map(({ detail }) => detail);
const toldMs = (lane: LaneHarness): number =>
  events(lane).reduce((sum, { dropped_ms: ms }) => sum + Number(ms), 0);

/** Live, with room for two seconds of speech that waits. */
function lagging(options: Partial<LaneOptions> = {}): LaneHarness {
  return new LaneHarness({ settings: { playoutLagMs: 2000 }, options }).goLive();
}

describe('what comes of a sentence that was given up', () => {
  it('is told and counted with the rest of it, once nothing more comes', () => {
    const lane = lagging();
    lane.hear('a', 30_000, true);
    lane.hear('b', 1500);
    lane.hear('c', 1500, true);
    lane.hear('d', 1500, true);
    expect(events(lane)).toMatchObject([{ why: 'lag', sentences: 1, dropped_ms: 1500 }]);
    for (let i = 0; i < 8; i++) {
      lane.hush(3);
      lane.hear('b', 500, i === 7);
    }
    expect(events(lane)).toHaveLength(1);
    lane.hush(12);
    expect(events(lane).slice(1)).toMatchObject([{ why: 'lag', sentences: 0, dropped_ms: 4000 }]);
    expect(lane.state.playout.shed).toEqual({ sentences: 1, bytes: 5500 * BYTES_A_MS });
    lane.hush(60);
    expect(toldMs(lane)).toBe(5500);
    expect(lane.state.playout.droppedBytes).toBe(5500 * BYTES_A_MS);
  });

  it('is told with the next sentence that is given up', () => {
    const lane = lagging();
    lane.hear('a', 30_000, true);
    lane.hear('b', 1500);
    lane.hear('c', 1500, true);
    lane.hear('d', 1500, true);
    lane.hear('b', 700, true);
    lane.hear('e', 1500, true);
    expect(events(lane)).toMatchObject([
      { why: 'lag', sentences: 1, dropped_ms: 1500 },
      { why: 'lag', sentences: 1, dropped_ms: 2200 },
    ]);
    lane.hush(60);
    expect(events(lane)).toHaveLength(2);
  });

  it('is told where a visitor spoke over it, too', () => {
    const lane = lagging({ echo: 'cancel', bargeIn: 'flush' });
    lane.step({ type: 'canceller', status: 'ready', message: '' });
    lane.hear('warming up', 3000, true);
    lane.pass(4000);
    lane.hear('a', 3000);
    lane.speak(2);
    expect(events(lane)).toMatchObject([{ why: 'barge_in', sentences: 1 }]);
    lane.hear('a', 2500, true);
    lane.hush(20);
    expect(events(lane).slice(1)).toMatchObject([{ why: 'barge_in', sentences: 0, dropped_ms: 2500 }]);
  });

  it('counts as not heard where there was no loudspeaker for it', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('playback');
    lane.hear('a', 4000);
    lane.hush(100);
    const before = lane.state.counts.unheardMs;
    expect(before).toBe(4000);
    lane.hear('a', 1000, true);
    expect(lane.state.counts.unheardMs).toBe(5000);
    lane.step({ type: 'playback_back' });
    lane.hush(20);
    expect(toldMs(lane)).toBe(5000);
  });

  it('is told at once where the lane is stopped', () => {
    const lane = lagging();
    lane.hear('a', 30_000, true);
    lane.hear('b', 1500);
    lane.hear('c', 1500, true);
    lane.hear('d', 1500, true);
    lane.hear('b', 700);
    lane.stop();
    expect(toldMs(lane)).toBe(2200);
    // What it was stopped in is told apart.
    lane.hear('b', 700, true);
    lane.pass(10_000);
    expect(events(lane).slice(2)).toMatchObject([{ why: 'stop', sentences: 3, dropped_ms: 33_700 }]);
  });
});
