import { describe, expect, it } from 'vitest';
import { behave } from '../behaviour.ts';
import { CHUNK_MS, LaneHarness } from '../lane-harness.ts';
import { hearNothing, hearScored, NOISE, SURE, UNSURE } from '../scored-sound.ts';

const AFTER_MS = 10_000;
const MINUTE = 60_000;
let names = 0;

type Service = 'writes' | 'writes and speaks' | 'speaks without names';

/** Sends the translation of the last speech. Returns when that was captured. */
function answer(lane: LaneHarness, service: Service = 'writes and speaks'): number {
  const saidAt = lane.now;
  const id = service === 'speaks without names' ? null : `s${++names}`;
  hearNothing(lane, 960);
  if (lane.phase !== 'live') return saidAt;
  lane.understands(id);
  hearNothing(lane, 640);
  if (lane.phase !== 'live' || service === 'writes') return saidAt;
  lane.hear(id, 800, true);
  hearNothing(lane, 960);
  return saidAt;
}

function live(): LaneHarness {
  return new LaneHarness({ options: { standbyAfterMs: AFTER_MS } }).goLive();
}

/** A visitor of whose voice the lane is never sure, for this long. Returns the capture time of the last chunk. */
function converse(lane: LaneHarness, ms: number, score = UNSURE, service?: Service): number {
  let saidAt = lane.now;
  for (const end = lane.now + ms; lane.now < end && lane.phase === 'live'; ) {
    hearScored(lane, 3000, score);
    saidAt = answer(lane, service);
  }
  return saidAt;
}

/** How long the lane stays awake without speech. */
function awakeFor(lane: LaneHarness, since: number): number {
  while (lane.phase === 'live') hearNothing(lane, CHUNK_MS);
  return lane.now - since;
}

describe('speech that the service has spoken', () => {
  it.each(['writes and speaks', 'speaks without names'] as const)(
    'counts as a voice even if the detector was not sure: the time to standby counts from it (%s)',
    (service) => {
      const lane = live();
      const saidAt = converse(lane, 2 * MINUTE, UNSURE, service);
      expect(lane.phase).toBe('live');
      const took = awakeFor(lane, saidAt);
      expect(took).toBeGreaterThanOrEqual(AFTER_MS);
      expect(took).toBeLessThanOrEqual(AFTER_MS + 2000);
      expect(lane.state.counts.standbys).toBe(1);
    },
  );

  it('counts from its capture, not from its translation', () => {
    const lane = live();
    hearScored(lane, 3000, UNSURE);
    const saidAt = lane.now;
    hearNothing(lane, 960);
    lane.understands('late');
    hearNothing(lane, 6000);
    lane.hear('late', 800, true);
    expect(awakeFor(lane, saidAt)).toBeLessThanOrEqual(AFTER_MS + 2000);
  });

  it('delays standby only once while it is only a transcript', () => {
    const lane = live();
    const since = lane.now;
    converse(lane, 10 * MINUTE, UNSURE, 'writes');
    expect(lane.phase).toBe('standby');
    expect(lane.now - since).toBeLessThan(AFTER_MS + 20_000);
  });

  it('keeps the lane awake for at most five minutes after a sure voice: it may be noise', () => {
    const lane = live();
    hearScored(lane, 1000, SURE);
    const sureAt = lane.now;
    converse(lane, 60 * MINUTE, NOISE);
    expect(lane.phase).toBe('standby');
    expect(lane.now - sureAt).toBeGreaterThan(5 * MINUTE);
    expect(lane.now - sureAt).toBeLessThan(5 * MINUTE + AFTER_MS + 20_000);
  });
});

describe('a lane in standby after an unsure voice', () => {
  /** In standby after a conversation. */
  function asleep(score: number): LaneHarness {
    const lane = live();
    behave(lane);
    hearScored(lane, 1000, SURE);
    answer(lane);
    converse(lane, MINUTE, score);
    awakeFor(lane, lane.now);
    hearNothing(lane, 4000);
    expect(lane.phase).toBe('standby');
    return lane;
  }

  it('wakes at such a voice again', () => {
    const lane = asleep(UNSURE);
    hearScored(lane, CHUNK_MS, NOISE);
    expect(lane.phase).toBe('standby');
    hearScored(lane, CHUNK_MS, UNSURE);
    expect(lane.phase).toBe('acquiring');
  });

  it('wakes only at a sure voice if the detector was sure of the last speaker', () => {
    const lane = asleep(SURE);
    hearScored(lane, 3000, UNSURE);
    expect(lane.phase).toBe('standby');
  });

  it('expects such a voice for five minutes', () => {
    const lane = asleep(UNSURE);
    hearNothing(lane, 5 * MINUTE);
    hearScored(lane, 3000, UNSURE);
    expect(lane.phase).toBe('standby');
  });

  it('needs more of it after each wake in vain', () => {
    const lane = asleep(UNSURE);
    hearScored(lane, CHUNK_MS, UNSURE);
    hearNothing(lane, 30_000);
    expect(lane.state.vainWakes).toHaveLength(1);
    expect(lane.phase).toBe('standby');
    hearScored(lane, 3000, UNSURE);
    expect(lane.phase).toBe('standby');
    hearScored(lane, CHUNK_MS, UNSURE + 2);
    expect(lane.phase).toBe('acquiring');
  });

  it('does not wake all day at noise that the service transcribes', () => {
    const lane = asleep(UNSURE);
    let wakes = 0;
    for (const end = lane.now + 60 * MINUTE; lane.now < end; ) {
      if (lane.phase === 'live') answer(lane);
      else if (lane.phase === 'standby') wakes++;
      while (lane.phase === 'standby' && lane.now < end) hearScored(lane, 3000, UNSURE);
      hearScored(lane, 3000, UNSURE);
    }
    expect(lane.phase).toBe('standby');
    expect(lane.state.counts.streamMs).toBeLessThan(7 * MINUTE);
    expect(wakes).toBeLessThan(20);
  });
});
