import { describe, expect, it } from 'vitest';
import { laneStatus } from '../../../src/device/status/status-rules.ts';
import type { LaneHarness as Lane } from './lane-harness.ts';
import { LaneHarness } from './lane-harness.ts';

const written = (lane: Lane, kind = 'speech'): number =>
  lane
    .all('play')
    .filter((play) => play.kind === kind)
    .reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0);
const events = (lane: Lane) =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'speech_dropped')
    .map(({ detail }) => detail);
const back = (lane: Lane): void => {
  lane.step({ type: 'playback_back' });
};
/** The loudspeaker is lost, and no sound was written to it. */
function deprived(): Lane {
  const lane = new LaneHarness().goLive();
  lane.fault('playback');
  return lane;
}

describe('a translation that comes while there is no loudspeaker', () => {
  it('is held, and played completely when the loudspeaker is back', () => {
    const lane = deprived();
    lane.hear('a', 4000, true);
    lane.hear('b', 2000, true);
    lane.hush(50);
    expect(written(lane)).toBe(0);
    back(lane);
    lane.hush(30);
    expect(written(lane)).toBe(6000);
    expect(events(lane)).toEqual([]);
    expect(lane.state.counts.speechDroppedMs).toBe(0);
  });

  it('continues where it was interrupted', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 5000, true);
    lane.pass(500);
    const before = written(lane);
    expect(before).toBeLessThan(2500);
    lane.fault('playback');
    lane.pass(6000);
    expect(written(lane)).toBe(before);
    back(lane);
    lane.hush(30);
    expect(written(lane)).toBe(5000);
  });

  it('is dropped after 30 s, and reported once with the sum when the loudspeaker is back', () => {
    const lane = deprived();
    lane.hear('a', 4000, true);
    lane.pass(20_000);
    lane.hear('b', 3000, true);
    lane.pass(9000);
    expect(lane.state.playout.queuedBytes).toBe(7000 * 48);
    lane.pass(1500);
    expect(lane.state.playout.queuedBytes).toBe(3000 * 48);
    expect(lane.state.counts.speechDroppedMs).toBe(4000);
    expect(laneStatus(lane.state, lane.now)).toMatchObject({
      status: 'degraded',
      reasons: [{ code: 'playback', detail: 'lost' }],
    });
    lane.pass(20_000);
    expect(lane.state.counts.speechDroppedMs).toBe(7000);
    expect(events(lane)).toEqual([]);
    back(lane);
    lane.hush(20);
    expect(events(lane)).toEqual([{ why: 'no_loudspeaker', sentences: 2, dropped_ms: 7000, waiting_ms: 0 }]);
    expect(written(lane)).toBe(0);
  });

  it('is dropped, the oldest first, when more than 20 s wait', () => {
    const lane = deprived();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) lane.hear(name, 6000, true);
    back(lane);
    lane.hush(120);
    expect(written(lane)).toBe(24_000);
    expect(events(lane)).toEqual([
      { why: 'no_loudspeaker', sentences: 2, dropped_ms: 12_000, waiting_ms: expect.any(Number) },
    ]);
  });

  it('is reported every ten minutes while the loudspeaker is away, and with the whole sum at its end', () => {
    const lane = deprived();
    for (let minute = 0; minute < 25; minute++) {
      lane.hear(`${minute}`, 1000, true);
      lane.pass(60_000);
    }
    expect(events(lane)).toHaveLength(2);
    for (const detail of events(lane)) expect(detail).toMatchObject({ ongoing: true });
    back(lane);
    lane.hush(20);
    expect(events(lane)).toHaveLength(3);
    expect(events(lane).at(-1)).toMatchObject({ why: 'no_loudspeaker', sentences: 25, dropped_ms: 25_000 });
  });

  it('is reported when the lane is stopped', () => {
    const lane = deprived();
    lane.hear('a', 4000, true);
    lane.pass(40_000);
    lane.stop();
    lane.end('closed');
    expect(events(lane)).toMatchObject([{ why: 'no_loudspeaker', dropped_ms: 4000 }]);
  });

  it('is still reported after a defect of the program', () => {
    const lane = deprived();
    lane.hear('a', 4000, true);
    lane.pass(40_000);
    lane.crash();
    lane.comeBack();
    back(lane);
    lane.hush(20);
    expect(events(lane)).toMatchObject([{ why: 'no_loudspeaker', dropped_ms: 4000 }]);
  });

  it('is not counted as latency from receipt to playback', () => {
    const lane = deprived();
    lane.hear('a', 1000, true);
    lane.pass(9000);
    back(lane);
    lane.hush(10);
    expect(lane.all('play').filter(({ receivedAt }) => receivedAt !== null)).toEqual([]);
  });
});

describe('a loudspeaker that does not report its return', () => {
  it('is probed with 8 ms of silence at once and every 5 s while speech waits', () => {
    const lane = deprived();
    lane.pass(20_000);
    expect(lane.all('play')).toEqual([]);
    lane.hear('a', 4000, true);
    lane.pass(22_000);
    expect(written(lane, 'fade')).toBe(5 * 8);
    expect(lane.all('play').every(({ pcm }) => pcm.every((byte) => byte === 0))).toBe(true);
  });

  it('is probed every minute while nothing waits', () => {
    const lane = deprived();
    lane.pass(250_000);
    expect(written(lane, 'fade')).toBe(4 * 8);
    back(lane);
    lane.pass(250_000);
    expect(written(lane, 'fade')).toBe(4 * 8);
  });

  it('is not probed while the lane is stopped', () => {
    const lane = deprived();
    lane.stop();
    lane.end('closed');
    lane.pass(250_000);
    expect(lane.all('play')).toEqual([]);
  });
});

describe('written sound that was not heard', () => {
  it('is reported if the loudspeaker did not take it, except chimes and silence', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 700, true);
    const { write, at } = lane.last('play');
    lane.step({ type: 'sounding', write, from: at, until: at });
    lane.announce(new Uint8Array(480));
    const own = lane.last('play').write;
    lane.step({ type: 'sounding', write: own, from: lane.now, until: lane.now });
    lane.hush(12);
    expect(events(lane)).toEqual([{ why: 'no_loudspeaker', sentences: 1, dropped_ms: 700, waiting_ms: 0 }]);
  });

  it('is reported if the device was away', () => {
    const lane = new LaneHarness().goLive();
    lane.step({ type: 'unheard', ms: 800 });
    lane.hush(5);
    expect(events(lane)).toEqual([]);
    lane.step({ type: 'unheard', ms: 300 });
    lane.hush(12);
    expect(events(lane)).toMatchObject([{ why: 'no_loudspeaker', dropped_ms: 1100 }]);
  });
});
