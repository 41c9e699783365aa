import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../src/core/lane/lane-report.ts';
import { needsBackend } from '../../../src/core/lane/session/retry-wait.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import {
  LONG_WAITS,
  LONGEST_MS,
  SHORT_WAITS,
  speakUntilTry,
  testAskedWaits,
  testSpacing,
  tired,
} from './waits.ts';

describe('a lane that waits', () => {
  testSpacing({ lanes: 60, minutes: 20 });
  testAskedWaits(SHORT_WAITS, 20);
  testAskedWaits(LONG_WAITS, 5);

  it('tries again within a few seconds when a voice is heard late in a long wait', () => {
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

  it('is as soon to hear a voice after the broker was away meanwhile', () => {
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

  it('is as short for whoever has spoken and waits for the answer', () => {
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
    // Longer than somebody who has stopped speaking counts as one who speaks.
    lane.hush(35);
    untilTry();
    const waits = [1].map(() => {
      lane.grant();
      lane.unreach(true);
      return untilTry();
    });
    for (const wait of waits) expect(wait).toBeLessThanOrEqual(LONGEST_MS + 2 * CHUNK_MS);
  });

  it('for what was said just before it began is hurried, too', () => {
    for (let seed = 0; seed < 40; seed++) {
      const lane = tired(8, seed * 7919);
      lane.until(() => lane.phase === 'acquiring', 61_000);
      lane.grant();
      lane.speak(10);
      lane.unreach(true);
      expect(lane.due('retry')).toBeLessThanOrEqual(LONGEST_MS);
    }
  });

  it('is hurried once by each wait: the spread of a fleet is not talked away', () => {
    const lane = tired(9, 3);
    lane.until(() => lane.due('retry') > 30_000 || lane.phase !== 'waiting', 1);
    lane.speak(1);
    const dueAt = lane.now + lane.due('retry');
    lane.speak(10);
    expect(lane.now + lane.due('retry')).toBe(dueAt);
  });

  it('is not hurried by noises that are no voice', () => {
    const lane = tired(9, 3);
    const due = lane.due('retry');
    lane.hush(5);
    expect(lane.due('retry')).toBe(due - 5 * CHUNK_MS);
  });

  it('is not hurried while the old session still makes room', () => {
    const lane = new LaneHarness().goMakingRoom();
    expect(lane.phase).toBe('waiting');
    const dueAt = lane.now + lane.due('retry');
    lane.speak(2);
    expect(lane.now + lane.due('retry')).toBe(dueAt);
  });

  it('parked is not hurried: a person has to help', () => {
    const lane = new LaneHarness().goParked();
    const dueAt = lane.now + lane.due('retry');
    lane.speak(20);
    expect(lane.now + lane.due('retry')).toBe(dueAt);
  });
});

describe('a request that the backend does not answer', () => {
  it('is repeated within a few seconds after somebody speaks', () => {
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

describe('the next try', () => {
  const DEVICE = { capture: 'mic', playback: 'speaker' };
  const told = (lane: LaneHarness, stamp: (at: number) => string | null = (at) => `at ${Math.round(at)}`) =>
    reportLane('main', lane.state, DEVICE, stamp).next_try_at;

  it('is told while one is waited for, also when a voice brings it forward', () => {
    const lane = tired(9, 3);
    expect(told(lane)).toBe(`at ${lane.timers.get('retry')}`);
    const first = told(lane);
    lane.speak(1);
    expect(told(lane)).toBe(`at ${Math.round(lane.timers.get('retry') ?? 0)}`);
    expect(told(lane)).not.toBe(first);
  });

  it('is null where nothing is waited for, or the clock is not set', () => {
    expect(told(new LaneHarness())).toBeNull();
    expect(told(new LaneHarness().goLive())).toBeNull();
    expect(told(new LaneHarness().goParked(), () => null)).toBeNull();
    expect(told(new LaneHarness().goParked())).not.toBeNull();
  });
});

describe('the backend is needed at once', () => {
  const needed = (lane: LaneHarness): boolean => needsBackend(lane.state, lane.now);

  it('while somebody speaks, and as long as what was said is held', () => {
    const lane = new LaneHarness().goAcquiring();
    expect(needed(lane)).toBe(false);
    lane.speak(1);
    expect(needed(lane)).toBe(true);
    lane.hush(92);
    expect(needed(lane)).toBe(true);
    lane.hush(2);
    expect(needed(lane)).toBe(false);
  });

  it('for ten seconds where nothing is held', () => {
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

  it('not by a lane that nobody wants', () => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 30_000 });
    lane.speak(1);
    lane.stop();
    expect(needed(lane)).toBe(false);
  });
});
