import { describe, expect, it } from 'vitest';
import type { LaneOptions } from '../../../src/device/lane/state/lane-options.ts';
import { LaneHarness } from './lane-harness.ts';

const BYTES_A_MS = 48;
const events = (lane: LaneHarness): readonly Readonly<Record<string, unknown>>[] =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'speech_dropped')
    .map(({ detail }) => detail);
const reportedMs = (lane: LaneHarness): number =>
  events(lane).reduce((sum, { dropped_ms: ms }) => sum + Number(ms), 0);

/** Live, with room for two seconds of waiting speech. */
function lagging(options: Partial<LaneOptions> = {}): LaneHarness {
  return new LaneHarness({ settings: { playoutLagMs: 2000 }, options }).goLive();
}

describe('a translated sentence that is dropped', () => {
  it('is reported once with its later sound, 3 s after the last drop', () => {
    const lane = lagging();
    lane.hear('a', 30_000, true);
    lane.hear('b', 1500);
    lane.hear('c', 1500, true);
    lane.hear('d', 1500, true);
    for (let i = 0; i < 8; i++) {
      lane.hush(3);
      lane.hear('b', 500, i === 7);
    }
    expect(events(lane)).toEqual([]);
    lane.hush(12);
    expect(events(lane)).toMatchObject([{ why: 'lag', sentences: 1, dropped_ms: 5500 }]);
    expect(lane.state.playout.shed).toEqual({ sentences: 1, bytes: 5500 * BYTES_A_MS });
    lane.hush(60);
    expect(reportedMs(lane)).toBe(5500);
    expect(lane.state.playout.droppedBytes).toBe(5500 * BYTES_A_MS);
  });

  it('is reported in one sum with the next dropped sentence', () => {
    const lane = lagging();
    lane.hear('a', 30_000, true);
    lane.hear('b', 1500);
    lane.hear('c', 1500, true);
    lane.hear('d', 1500, true);
    lane.hear('b', 700, true);
    lane.hear('e', 1500, true);
    lane.hush(60);
    expect(events(lane)).toMatchObject([{ why: 'lag', sentences: 2, dropped_ms: 3700 }]);
  });

  it('is reported with its rest when a visitor speaks over it', () => {
    const lane = lagging({ echo: 'cancel', bargeIn: 'flush' });
    lane.step({ type: 'canceller', status: 'ready', message: '' });
    lane.hear('warming up', 3000, true);
    lane.pass(4000);
    lane.hear('a', 3000);
    lane.speak(2);
    lane.hear('a', 2500, true);
    lane.hush(20);
    expect(events(lane)).toMatchObject([{ why: 'barge_in', sentences: 1 }]);
    expect(reportedMs(lane)).toBeGreaterThan(2500);
  });

  it('is counted with its rest when there is no loudspeaker', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('playback');
    lane.hear('a', 4000);
    lane.hush(100);
    expect(lane.state.counts.speechDroppedMs).toBe(4000);
    lane.hear('a', 1000, true);
    expect(lane.state.counts.speechDroppedMs).toBe(5000);
    lane.step({ type: 'playback_back' });
    lane.hush(20);
    expect(reportedMs(lane)).toBe(5000);
  });

  it('is reported at once when the lane is stopped', () => {
    const lane = lagging();
    lane.hear('a', 30_000, true);
    lane.hear('b', 1500);
    lane.hear('c', 1500, true);
    lane.hear('d', 1500, true);
    lane.hear('b', 700);
    lane.stop();
    expect(events(lane)).toMatchObject([{ why: 'lag', dropped_ms: 2200 }]);
    // The sound that the stop drops is reported separately.
    lane.hear('b', 700, true);
    lane.pass(10_000);
    expect(events(lane).slice(1)).toMatchObject([{ why: 'stop', sentences: 3, dropped_ms: 33_700 }]);
  });
});
