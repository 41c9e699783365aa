import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../src/device/lane/lane-report.ts';
import { needsBackend } from '../../../src/device/lane/session/retry-wait.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import {
  LONG_WAITS,
  LONGEST_MS,
  SHORT_WAITS,
  speakUntilTry,
  testAskedWaits,
  testSpacing,
  tired,
} from './retry-waits.ts';

describe('a lane that waits', () => {
  testSpacing({ lanes: 60, minutes: 20 });
  testAskedWaits(SHORT_WAITS, 20);
  testAskedWaits(LONG_WAITS, 5);

  it('retries within a few seconds when a voice is heard late in a long wait', () => {
    let quietMs = 0;
    for (let seed = 0; seed < 40; seed++) {
      const lane = tired(8, seed * 7919);
      quietMs = Math.max(quietMs, lane.due('retry'));
      if (lane.due('retry') < 20_000) continue;
      lane.pass(16_000);
      expect(speakUntilTry(lane)).toBeLessThanOrEqual(3000 + 2 * CHUNK_MS);
    }
    expect(quietMs).toBeGreaterThan(45_000);
  });

  it('retries as soon at a voice after the broker was away meanwhile', () => {
    let tried = 0;
    for (let seed = 0; seed < 40; seed++) {
      const lane = tired(8, seed * 7919);
      if (lane.due('retry') < 25_000) continue;
      lane.brokerIs(false);
      lane.pass(16_000);
      lane.brokerIs(true);
      expect(speakUntilTry(lane)).toBeLessThanOrEqual(3000 + 2 * CHUNK_MS);
      tried++;
    }
    expect(tried).toBeGreaterThan(5);
  });

  it('waits as briefly for a visitor who waits for the translation', () => {
    const lane = new LaneHarness().goLive();
    lane.end();
    while (lane.state.failures < 9) {
      lane.hush(1);
      if (lane.phase === 'acquiring') lane.grant();
      if (lane.phase === 'connecting') lane.unreach(true);
    }
    lane.speak(5);
    const untilTry = (): number => {
      const beganAt = lane.now;
      while (lane.state.session.kind === 'waiting') lane.hush(1);
      return lane.now - beganAt;
    };
    // Longer than a visitor who has stopped still counts as speaking.
    lane.hush(35);
    untilTry();
    const waits = [1].map(() => {
      lane.grant();
      lane.unreach(true);
      return untilTry();
    });
    for (const wait of waits) expect(wait).toBeLessThanOrEqual(LONGEST_MS + 2 * CHUNK_MS);
  });

  it('waits briefly for speech just before the wait began', () => {
    for (let seed = 0; seed < 40; seed++) {
      const lane = tired(8, seed * 7919);
      lane.until(() => lane.phase === 'acquiring', 61_000);
      lane.grant();
      lane.speak(10);
      lane.unreach(true);
      expect(lane.due('retry')).toBeLessThanOrEqual(LONGEST_MS);
    }
  });

  it('shortens each wait once: speech does not remove the spread of a fleet', () => {
    const lane = tired(9, 3);
    lane.until(() => lane.due('retry') > 30_000 || lane.phase !== 'waiting', 1);
    lane.speak(1);
    const dueAt = lane.now + lane.due('retry');
    lane.speak(10);
    expect(lane.now + lane.due('retry')).toBe(dueAt);
  });

  it('does not shorten the wait for noise', () => {
    const lane = tired(9, 3);
    const due = lane.due('retry');
    lane.hush(5);
    expect(lane.due('retry')).toBe(due - 5 * CHUNK_MS);
  });

  it('does not shorten the wait for the end of the old session', () => {
    const lane = new LaneHarness().goMakingRoom();
    expect(lane.phase).toBe('waiting');
    const dueAt = lane.now + lane.due('retry');
    lane.speak(2);
    expect(lane.now + lane.due('retry')).toBe(dueAt);
  });

  it('does not shorten the wait while it is parked: that needs manual action', () => {
    const lane = new LaneHarness().goParked();
    const dueAt = lane.now + lane.due('retry');
    lane.speak(20);
    expect(lane.now + lane.due('retry')).toBe(dueAt);
  });
});

describe('a request that the backend does not answer', () => {
  it('is repeated within a few seconds after a voice', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(400_000);
    const { at } = lane.last('request_token');
    lane.until(() => lane.last('request_token').at > at && lane.due('token') > 55_000, 200_000);
    const asked = lane.all('request_token').length;
    lane.pass(20_000);
    lane.speak(12);
    expect(lane.all('request_token')).toHaveLength(asked + 1);
  });

  it('is repeated every 15 to 18 s while people go on speaking', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(400_000);
    const before = lane.all('request_token').length;
    lane.speak(Math.ceil(600_000 / CHUNK_MS));
    const times = lane.all('request_token').map(({ at }) => at);
    const gaps = times.slice(before + 1).map((at, i) => at - (times[before + i] ?? at));
    expect(gaps.length).toBeGreaterThan(30);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(15_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(18_000 + CHUNK_MS);
  });
});

describe('the next attempt', () => {
  const DEVICE = { capture: 'mic', playback: 'speaker' };
  const told = (lane: LaneHarness, stamp: (at: number) => string | null = (at) => `at ${Math.round(at)}`) =>
    reportLane('main', lane.state, DEVICE, stamp).next_try_at;

  it('is reported during a wait, also when a voice shortens that', () => {
    const lane = tired(9, 3);
    expect(told(lane)).toBe(`at ${lane.timers.get('retry')}`);
    const first = told(lane);
    lane.speak(1);
    expect(told(lane)).toBe(`at ${Math.round(lane.timers.get('retry') ?? 0)}`);
    expect(told(lane)).not.toBe(first);
  });

  it('is null without a wait, or while the clock is not set', () => {
    expect(told(new LaneHarness())).toBeNull();
    expect(told(new LaneHarness().goLive())).toBeNull();
    expect(told(new LaneHarness().goParked(), () => null)).toBeNull();
    expect(told(new LaneHarness().goParked())).not.toBeNull();
  });
});

describe('the backend is needed', () => {
  const needed = (lane: LaneHarness): boolean => needsBackend(lane.state, lane.now);

  it('while a visitor speaks, and while speech is held', () => {
    const lane = new LaneHarness().goAcquiring();
    expect(needed(lane)).toBe(false);
    lane.speak(1);
    expect(needed(lane)).toBe(true);
    lane.hush(92);
    expect(needed(lane)).toBe(true);
    lane.hush(2);
    expect(needed(lane)).toBe(false);
  });

  it('for ten seconds after a voice when nothing is held', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(1);
    lane.hush(30);
    expect(needed(lane)).toBe(true);
    lane.hush(3);
    expect(needed(lane)).toBe(false);
  });

  it('while a session ends within a minute', () => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 120_000 });
    lane.hush(125);
    expect(needed(lane)).toBe(false);
    lane.hush(80);
    expect(needed(lane)).toBe(true);
  });

  it('not by a stopped lane', () => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 30_000 });
    lane.speak(1);
    lane.stop();
    expect(needed(lane)).toBe(false);
  });
});
