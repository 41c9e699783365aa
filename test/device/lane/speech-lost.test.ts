import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { laneStatus } from '../../../src/device/status/status-rules.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

const CAPACITY = Math.floor(LANE_DEFAULTS.backlogMs / CHUNK_MS);
const events = (lane: LaneHarness) => lane.all('notify').filter(({ kind }) => kind === 'speech_lost');
const reasons = (lane: LaneHarness) => laneStatus(lane.state, lane.now).reasons;
/** The service is unreachable: all attempts fail while a visitor speaks. */
function speakInVain(lane: LaneHarness, chunks: number): void {
  for (let i = 0; i < chunks; i++) {
    if (lane.phase === 'acquiring') lane.grant();
    if (lane.phase === 'connecting') lane.unreach(true);
    lane.speak(1);
  }
}

describe('an outage that is longer than the backlog', () => {
  it('is reported once at its end, with the sum, the cause and the times', () => {
    const lane = new LaneHarness().goLive();
    lane.end();
    const beganAt = lane.now;
    speakInVain(lane, CAPACITY);
    expect(lane.state.loss).toBeNull();
    speakInVain(lane, 25);
    expect(reasons(lane)).toContainEqual({ code: 'speech_lost', detail: 'network' });
    expect(events(lane)).toHaveLength(0);
    while (lane.phase === 'waiting') lane.speak(1);
    lane.comeBack();
    lane.hush(10);
    expect(events(lane)).toHaveLength(0);
    lane.hush(40);
    const lostMs = lane.accounts.lost * CHUNK_MS;
    expect(lostMs).toBeGreaterThanOrEqual(25 * CHUNK_MS);
    expect(events(lane)).toHaveLength(1);
    expect(events(lane)[0]).toMatchObject({
      detail: { lost_ms: lostMs, cause: 'network' },
      times: { from: beganAt, to: beganAt + lostMs },
    });
    expect(reasons(lane)).toEqual([]);
  });

  it('may lose one more word while the full backlog drains, with its own cause', () => {
    const lane = new LaneHarness().goLive();
    lane.end();
    speakInVain(lane, CAPACITY + 10);
    while (lane.phase === 'waiting') lane.speak(1);
    lane.comeBack();
    lane.speak(45);
    expect(events(lane)).toHaveLength(1);
    const lost = lane.accounts.lost;
    // More than could be sent meanwhile.
    for (let i = 0; i < 3; i++) lane.capture();
    expect(lane.accounts.lost).toBeGreaterThan(lost);
    expect(reasons(lane)).toEqual([{ code: 'speech_lost', detail: 'catching_up' }]);
    lane.speak(45);
    const [first, second] = events(lane).map(({ detail }) => detail);
    expect(first).toMatchObject({ cause: 'network' });
    expect(second).toMatchObject({ cause: 'catching_up' });
    const sum = [first, second].reduce((ms, detail) => ms + Number(detail?.['lost_ms']), 0);
    expect(sum).toBe(lane.accounts.lost * CHUNK_MS);
  });

  it('never names the loudspeaker as its cause', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.step({ type: 'audio_fault', device: 'playback', code: 'lost', message: 'unplugged' });
    lane.speak(CAPACITY + 2);
    expect(lane.state.loss?.cause).toBe('no_session');
  });

  it('causes no loss without speech', () => {
    const lane = new LaneHarness().goLive();
    lane.end();
    for (let i = 0; i < 2 * CAPACITY; i++) {
      if (lane.phase === 'acquiring') lane.grant();
      if (lane.phase === 'connecting') lane.unreach(true);
      lane.hush(1);
    }
    expect(lane.state.loss).toBeNull();
    expect(events(lane)).toHaveLength(0);
  });

  it('is reported every ten minutes while it goes on, and with the whole sum at its end', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.brokerIs(false);
    lane.speak(CAPACITY + Math.ceil((25 * 60_000) / CHUNK_MS));
    expect(events(lane)).toHaveLength(2);
    for (const { detail } of events(lane))
      expect(detail).toMatchObject({ ongoing: true, cause: 'no_broker' });
    expect(reasons(lane)).toContainEqual({ code: 'speech_lost', detail: 'no_broker' });
    lane.stop();
    expect(events(lane)).toHaveLength(3);
    const { detail } = lane.last('notify');
    expect(detail).toEqual({ lost_ms: lane.accounts.lost * CHUNK_MS, cause: 'no_broker' });
  });

  it('names a silent backend as its cause', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.step({ type: 'backend', silent: true });
    lane.speak(CAPACITY + 2);
    expect(reasons(lane)).toEqual([
      { code: 'no_session', detail: 'acquiring' },
      { code: 'no_backend' },
      { code: 'speech_lost', detail: 'no_backend' },
    ]);
  });

  it('is one outage on a connection that loses a word now and then', () => {
    const lane = new LaneHarness({ settings: { stuckMs: 1e9 } }).goLive();
    const { stream } = lane;
    for (let i = 0; i < 20; i++) {
      lane.step({ type: 'congested', stream });
      lane.speak(i === 0 ? CAPACITY + 5 : 6);
      lane.step({ type: 'drained', stream });
      lane.speak(3);
    }
    expect(lane.state.loss?.cause).toBe('congested');
    expect(events(lane)).toHaveLength(0);
    lane.hush(60);
    expect(events(lane)).toHaveLength(1);
  });
});

describe('speech that waits while the microphone is away and there is no stream', () => {
  const MOST_MS = 120_000;
  const sentSince = (lane: LaneHarness, at: number) =>
    lane.all('send_audio').filter(({ capturedAt }) => capturedAt !== null && capturedAt <= at);
  const loseMicrophone = (lane: LaneHarness): number => {
    lane.goAcquiring();
    lane.brokerIs(false);
    lane.hush(4);
    lane.speak(10);
    lane.step({ type: 'audio_fault', device: 'capture', code: 'lost', message: 'unplugged' });
    return lane.now;
  };

  it('is sent when a stream comes within two minutes', () => {
    const lane = new LaneHarness();
    const at = loseMicrophone(lane);
    lane.pass(MOST_MS - 30 * CHUNK_MS);
    lane.brokerIs(true);
    lane.pass(400);
    lane.comeBack();
    lane.pass(6000);
    expect(sentSince(lane, at).length).toBeGreaterThanOrEqual(10);
    expect(lane.accounts.lost).toBe(0);
  });

  it('is dropped and reported when a stream comes later', () => {
    const lane = new LaneHarness();
    const at = loseMicrophone(lane);
    lane.pass(2 * MOST_MS);
    lane.brokerIs(true);
    expect(lane.accounts).toMatchObject({ lost: 10 });
    expect(reasons(lane)).toContainEqual({ code: 'speech_lost', detail: 'no_broker' });
    lane.pass(20_000);
    lane.comeBack();
    lane.pass(15_000);
    lane.speak(4);
    expect(sentSince(lane, at)).toEqual([]);
    expect(events(lane)).toMatchObject([
      {
        detail: { lost_ms: 10 * CHUNK_MS, cause: 'no_broker' },
        times: { from: at - 10 * CHUNK_MS, to: at },
      },
    ]);
  });

  it('is dropped, too, when a microphone that hung delivers it to a stream', () => {
    const lane = new LaneHarness({ settings: { stuckMs: 1e9 } }).goLive();
    const at = lane.now;
    lane.pass(2 * MOST_MS);
    lane.capture(true, at);
    lane.pass(1000);
    expect(sentSince(lane, at)).toEqual([]);
    expect(lane.accounts).toMatchObject({ lost: 1 });
    lane.hush(60);
    expect(events(lane)).toMatchObject([
      { detail: { lost_ms: CHUNK_MS }, times: { from: at - CHUNK_MS, to: at } },
    ]);
  });

  it.each([10, 1])(
    'is reported completely when the lane is stopped in the step that finds all but %i too old',
    (young) => {
      const lane = new LaneHarness();
      lane.goAcquiring();
      lane.brokerIs(false);
      lane.speak(20);
      lane.step({ type: 'audio_fault', device: 'capture', code: 'lost', message: 'unplugged' });
      lane.stall(MOST_MS - young * CHUNK_MS + 1);
      expect(lane.accounts.lost).toBe(0);
      lane.hold('closed');
      expect(lane.accounts.lost).toBe(20);
      expect(events(lane)).toMatchObject([{ detail: { lost_ms: 20 * CHUNK_MS, cause: 'no_broker' } }]);
    },
  );

  it.each([0, 60_000])('ends with its last word when the lane is stopped %i ms after that', (later) => {
    const lane = new LaneHarness();
    lane.goAcquiring();
    lane.brokerIs(false);
    const from = lane.now;
    lane.speak(20);
    const to = lane.now;
    lane.hush(5);
    lane.step({ type: 'audio_fault', device: 'capture', code: 'lost', message: 'unplugged' });
    lane.stall(later);
    lane.stop();
    expect(events(lane)).toMatchObject([{ detail: { lost_ms: 20 * CHUNK_MS }, times: { from, to } }]);
  });

  it('causes no loss in standby, where it counted as a pause', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 20_000 } }).goLive();
    lane.hush(100);
    expect(lane.phase).toBe('standby');
    const at = lane.now;
    lane.step({ type: 'audio_fault', device: 'capture', code: 'lost', message: 'unplugged' });
    lane.pass(2 * MOST_MS);
    lane.capture(false);
    expect(lane.state.backlog.chunks.every(({ capturedAt }) => capturedAt > at)).toBe(true);
    expect(lane.accounts.lost).toBe(0);
    expect(events(lane)).toEqual([]);
  });
});

describe('speech of an old session that is sent again after newer speech', () => {
  it('is covered by the reported times, with the newer speech, when the lane is stopped', () => {
    const lane = new LaneHarness().goOldSession();
    lane.speak(1);
    const to = lane.now;
    lane.understands(null);
    const again = () => lane.all('send_audio').filter(({ queued }) => queued);
    lane.until(() => again().length === 3, 20_000);
    const from = Number(again()[0]?.capturedAt) - CHUNK_MS;
    expect(from).toBeLessThan(to - 3 * CHUNK_MS);
    lane.stop();
    lane.pass(3000);
    expect(events(lane)).toMatchObject([
      { detail: { lost_ms: 4 * CHUNK_MS, cause: 'stopped' }, times: { from, to } },
    ]);
  });
});
