import { describe, expect, it } from 'vitest';
import { CLOSING_MS } from '../../../src/device/lane/session/hold.ts';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { laneStatus } from '../../../src/device/status/status-rules.ts';
import { finished, limit } from '../../service-events.ts';
import { behave } from './behaviour.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { SITUATIONS, situation } from './situations.ts';

const END = LANE_DEFAULTS.drainMs + CHUNK_MS;
const statusOf = ({ state, now }: LaneHarness) => {
  const { status, reasons } = laneStatus(state, now);
  return { status, reasons: reasons.map(({ code }) => code) };
};

describe('a hold', () => {
  it.each(Object.keys(SITUATIONS))(
    'while %s: nothing runs any more after it, and no token is asked for',
    (name) => {
      const lane = situation(name);
      const { wanted, ending } = lane.state;
      const asked = lane.all('request_token').length;
      lane.hold('closed');
      lane.pass(CLOSING_MS + END);
      expect(lane.phase).toBe(ending ? 'closed' : 'idle');
      expect(lane.all('request_token')).toHaveLength(asked);
      expect(lane.timers.size).toBe(0);
      expect(lane.state).toMatchObject({
        wanted,
        session: { kind: ending ? 'closed' : 'idle' },
        closing: null,
      });
    },
  );

  it.each(Object.keys(SITUATIONS))(
    'while %s, and over at once: the lane goes on as if there had been none',
    (name) => {
      const lane = situation(name);
      const { wanted } = lane.state;
      lane.hold('budget');
      lane.hold(null);
      behave(lane);
      lane.until(() => !wanted || lane.phase === 'live' || lane.phase === 'standby', 700_000);
      expect(lane.state).toMatchObject({ wanted, closing: null, hold: null });
    },
  );

  it('ends a session without pending speech at once', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(10);
    lane.hold('closed');
    expect(lane.phase).toBe('draining');
    expect(lane.all('end_task')).toHaveLength(1);
    lane.says(finished());
    expect(lane.phase).toBe('idle');
    expect(lane.all('close_capture')).toHaveLength(1);
    expect(statusOf(lane)).toEqual({ status: 'idle', reasons: ['closed'] });
  });

  it('finishes the current sentence and its translation, and accepts no further sentence', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(4);
    const began = lane.wire.length;
    lane.speak(5);
    lane.hold('closed');
    expect(statusOf(lane)).toEqual({ status: 'idle', reasons: ['closed'] });
    lane.speak(4);
    lane.hush(4);
    const sentence = lane.wire;
    expect(sentence.slice(began)).toMatch(/^s{12}\.?$/);
    expect(lane.state.closing?.isDeaf).toBe(true);
    // Another speaker begins.
    lane.speak(6);
    expect(lane.wire.slice(sentence.length)).toBe('......');
    lane.understands('a');
    lane.hear('a', 2000, true);
    expect(lane.phase).toBe('live');
    lane.hush(Math.ceil(3000 / CHUNK_MS));
    lane.pass(1000);
    const played = lane.all('play').reduce((ms, { pcm }) => ms + pcm.byteLength / 48, 0);
    expect(played).toBeGreaterThanOrEqual(2000);
    expect(lane.phase).toBe('draining');
    expect(lane.all('flush_playback').at(-1)?.at).toBeGreaterThanOrEqual(lane.last('play').at);
  });

  it('ends the session after 20 s at most', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(4);
    lane.speak(2);
    lane.hold('closed');
    const { now } = lane;
    while (lane.phase === 'live' && lane.now - now < 60_000) lane.speak(1);
    expect(lane.last('end_task').at - now).toBeGreaterThanOrEqual(CLOSING_MS - CHUNK_MS);
    expect(lane.last('end_task').at - now).toBeLessThanOrEqual(CLOSING_MS + CHUNK_MS);
    // After 10 s the service gets silence, and can finish.
    const silent = lane.all('send_audio').filter(({ at, pcm }) => at > now + 11_000 && pcm !== null);
    expect(silent).toEqual([]);
  });

  it('begins no next session near the limit', () => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 40_000 });
    lane.hush(4);
    lane.until(() => lane.due('roll') < 500, 60_000);
    lane.speak(1);
    const asked = lane.all('request_token').length;
    lane.hold('closed');
    for (let i = 0; i < 40; i++) lane.speak(1);
    expect(lane.phase).toBe('live');
    lane.says(limit('max_duration'));
    lane.pass(CLOSING_MS);
    expect(lane.phase).toBe('idle');
    expect(lane.all('request_token')).toHaveLength(asked);
  });

  it('lets the session go on when the hold ends during the last sentence', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(4);
    lane.speak(3);
    lane.hold('closed');
    lane.speak(3);
    lane.hold(null);
    const { length } = lane.wire;
    lane.speak(10);
    expect(lane.wire.slice(length)).toBe('ssssssssss');
    lane.pass(CLOSING_MS);
    expect(lane.all('end_task')).toEqual([]);
    expect(lane.state).toMatchObject({ session: { kind: 'live' }, closing: null });
  });

  it('begins the next session at once when the hold ends before the limit', () => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 60_000 });
    lane.until(() => lane.phase === 'rolling', 60_000);
    lane.hush(4);
    lane.speak(3);
    lane.hold('closed');
    expect(lane.phase).toBe('live');
    const asked = lane.all('request_token').length;
    lane.speak(2);
    lane.hold(null);
    lane.speak(8);
    expect(lane.phase).toBe('rolling');
    expect(lane.all('request_token')).toHaveLength(asked + 1);
  });

  it('starts a lane that was wanted before or during the hold, when the hold ends', () => {
    const lane = new LaneHarness().goLive();
    lane.hold('closed');
    lane.pass(CLOSING_MS + END);
    lane.hold(null);
    expect(lane.phase).toBe('acquiring');

    const asked = new LaneHarness();
    asked.brokerIs(true);
    asked.hold('closed');
    asked.start();
    expect(asked.phase).toBe('idle');
    asked.hold(null);
    expect(asked.phase).toBe('acquiring');
  });

  it('starts no lane that was stopped before or during the hold', () => {
    for (const stopsFirst of [true, false]) {
      const lane = new LaneHarness().goLive();
      if (stopsFirst) lane.stop();
      lane.hold('closed');
      if (!stopsFirst) lane.stop();
      lane.pass(CLOSING_MS + END);
      lane.hold(null);
      lane.pass(1000);
      expect(lane.phase).toBe('idle');
    }
  });

  it('takes effect in a step that throws, and survives a later defect', () => {
    const lane = new LaneHarness().goLive();
    lane.crash({ type: 'hold', hold: 'closed' });
    expect(lane.state).toMatchObject({ session: { kind: 'idle' }, hold: 'closed', wanted: true });
    lane.crash();
    expect(lane.state).toMatchObject({ session: { kind: 'idle' }, hold: 'closed' });
    lane.hold(null);
    expect(lane.phase).toBe('acquiring');
  });

  it('can change its reason', () => {
    const lane = new LaneHarness().goLive();
    lane.hold('budget');
    lane.pass(CLOSING_MS + END);
    expect(statusOf(lane)).toEqual({ status: 'degraded', reasons: ['budget'] });
    lane.hold('closed');
    expect(statusOf(lane)).toEqual({ status: 'idle', reasons: ['closed'] });
    lane.stop();
    expect(statusOf(lane)).toEqual({ status: 'idle', reasons: ['closed', 'stopped'] });
    lane.hold('budget');
    expect(statusOf(lane)).toEqual({ status: 'idle', reasons: ['stopped'] });
    expect(lane.phase).toBe('idle');
  });

  it('does not wake a sleeping lane when it ends', () => {
    const lane = new LaneHarness().goStandby();
    lane.hold('closed');
    lane.options({ standbyAfterMs: 0 });
    lane.start();
    lane.pass(1000);
    expect(lane.phase).toBe('idle');
  });
});
