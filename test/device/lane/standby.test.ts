import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { finished, heard, limit } from '../../service-events.ts';
import { behave } from './behaviour.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { situation } from './situations.ts';

const AFTER_MS = 20_000;
const PREROLL_CHUNKS = LANE_DEFAULTS.prerollMs / CHUNK_MS;
const asleepAfter = (options = {}) => new LaneHarness({ options: { standbyAfterMs: AFTER_MS, ...options } });

describe('standby', () => {
  it('comes after a time without speech, and ends the stream', () => {
    const lane = asleepAfter().goLive();
    lane.speak(5);
    const spokeAt = lane.now;
    lane.hush(3);
    lane.understands('a');
    lane.hear('a', 800, true);
    lane.hush(77);
    expect(lane.phase).toBe('standby');
    const { at } = lane.last('end_task');
    expect(at - spokeAt).toBeGreaterThanOrEqual(AFTER_MS);
    expect(at - spokeAt).toBeLessThanOrEqual(AFTER_MS + 1500);
    lane.says(finished());
    expect(lane.state).toMatchObject({
      session: { kind: 'standby' },
      oldSession: null,
      counts: { standbys: 1, failures: 0 },
    });
    expect(lane.notes.slice(1)).toEqual(['standby', 'session_ended']);
    expect(lane.last('notify').detail).toMatchObject({ cause: 'standby' });
    expect(lane.all('close_capture')).toHaveLength(0);
    const sent = lane.all('send_audio').length;
    lane.hush(1000);
    expect(lane.all('send_audio')).toHaveLength(sent);
    expect(lane.timers.size).toBe(0);
  });

  it('forgets a token left over from a rollover: the next session gets a fresh one', () => {
    const lane = new LaneHarness().goRolling();
    lane.grant();
    lane.unreach(false);
    expect(lane.lease).not.toBeNull();
    lane.options({ standbyAfterMs: 1 });
    lane.pass(5);
    expect(lane.phase).toBe('standby');
    expect(lane.lease).toBeNull();
    lane.speak(3);
    expect(lane.phase).toBe('acquiring');
  });

  it('never comes when it is switched off', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(2000);
    expect(lane.phase).toBe('live');
  });

  it('is postponed by every word', () => {
    const lane = asleepAfter().goLive();
    for (let i = 0; i < 10; i++) {
      lane.hush(60);
      lane.speak(1);
    }
    expect(lane.phase).toBe('live');
  });

  it('is postponed by partials of a sentence in which the detector finds no voice', () => {
    const lane = asleepAfter().goLive();
    const chunks = (ms: number) => Math.ceil(ms / CHUNK_MS);
    for (let ms = 0; ms < AFTER_MS + 10_000; ms += 4 * CHUNK_MS) {
      lane.says(heard({ id: 'a', text: 'quietly said' }));
      lane.hush(4);
    }
    expect(lane.phase).toBe('live');
    lane.hush(chunks(1000));
    expect(lane.phase).toBe('live');
    // The service never reports its end: the lane does not wait for that.
    lane.hush(chunks(3000));
    expect(lane.phase).toBe('standby');
  });

  it('ends the stream cleanly, although the last sentence has only a partial', () => {
    const lane = asleepAfter().goLive();
    lane.isSpeech = false;
    lane.hush(50);
    while (lane.phase === 'live') {
      lane.speak(3);
      lane.says(heard({ id: 'a', text: 'quietly said' }));
    }
    lane.understands('a');
    lane.hear('a', 2000, true);
    lane.says(finished());
    const ended = lane.all('notify').filter(({ kind }) => kind === 'session_ended');
    expect(ended).toMatchObject([{ detail: { cause: 'standby' } }]);
  });

  it('ends at a voice, and the first word arrives completely', () => {
    const lane = asleepAfter().goStandby();
    lane.hush(30);
    const beganAt = lane.now;
    lane.speak(2);
    expect(lane.phase).toBe('acquiring');
    expect(lane.notes.at(-1)).toBe('wake');
    expect(lane.last('request_token').reason).toBe('start');
    lane.speak(6);
    lane.grant();
    lane.open();
    lane.taskRuns();
    lane.hush(40);
    const sent = lane.all('send_audio').filter(({ stream }) => stream === 2);
    const places = sent.flatMap(({ capturedAt }) => (capturedAt === null ? [] : [capturedAt]));
    // Three chunks of the room before it, in case the word began softly, then every chunk of it.
    const softBeganAt = beganAt - 2 * CHUNK_MS;
    expect(places.slice(0, 11)).toEqual(Array.from({ length: 11 }, (_, i) => softBeganAt + i * CHUNK_MS));
    expect(lane.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('keeps only the pre-roll', () => {
    const lane = asleepAfter().goStandby();
    lane.hush(500);
    expect(lane.accounts.held).toBe(PREROLL_CHUNKS);
    expect(lane.accounts).toMatchObject({
      captured: 500,
      lost: 0,
      dropped: 0,
      trimmed: 500 - PREROLL_CHUNKS,
    });
  });

  it('does not end at single loud chunks', () => {
    const lane = asleepAfter().goStandby();
    for (let i = 0; i < 50; i++) {
      lane.hush(5);
      lane.speak(1);
    }
    expect(lane.phase).toBe('standby');
    expect(lane.all('request_token')).toHaveLength(1);
  });

  it('ends at two voiced chunks with a breath between them', () => {
    const lane = asleepAfter().goStandby();
    lane.speak(1);
    lane.hush(1);
    lane.speak(1);
    expect(lane.phase).toBe('acquiring');
  });

  it('does not end while the lane is muted', () => {
    const lane = asleepAfter({ muted: true }).goStandby();
    lane.speak(20);
    expect(lane.phase).toBe('standby');
    lane.options({ muted: false });
    lane.speak(2);
    expect(lane.phase).toBe('acquiring');
  });

  it('comes again after a false alarm', () => {
    const lane = asleepAfter();
    behave(lane);
    lane.start();
    lane.until(() => lane.phase === 'live', 10_000);
    lane.hush(70);
    expect(lane.phase).toBe('standby');
    lane.speak(2);
    lane.hush(20 + Math.ceil(LANE_DEFAULTS.answerMs / CHUNK_MS) + 70);
    expect(lane.phase).toBe('standby');
    expect(lane.state.counts).toMatchObject({ standbys: 2, sessions: 2 });
  });

  it('comes after a rollover, not during one', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 40_000 } }).goRolling();
    lane.pass(3000);
    expect(lane.phase).toBe('rolling');
    lane.grant({ maxDurationMs: 60_000 });
    lane.open();
    lane.taskRuns();
    lane.until(() => lane.phase === 'live', 1000);
    expect(lane.state.oldSession).not.toBeNull();
    // The old session gets one end_task, and the new one is closed as soon as it is gone.
    lane.until(() => lane.phase === 'standby', 12_000);
    expect(lane.state.counts.sessions).toBe(2);
  });

  it('comes also with sessions shorter than the wait', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 120_000 } });
    behave(lane, { maxDurationMs: 60_000 });
    lane.start();
    lane.until(() => lane.phase === 'live', 10_000);
    lane.hush(10);
    lane.speak(2);
    lane.hush(400);
    expect(lane.phase).toBe('standby');
  });

  it('takes effect at once when it is switched on or off while live or rolling', () => {
    const lane = new LaneHarness().goRolling();
    lane.options({ standbyAfterMs: 5000 });
    lane.says(limit('revoked'), 1);
    lane.grant();
    lane.open();
    lane.taskRuns();
    lane.options({ standbyAfterMs: 0 });
    expect(lane.timers.has('standby')).toBe(false);
    lane.options({ standbyAfterMs: 5000 });
    lane.hush(40);
    expect(lane.phase).toBe('standby');
  });

  it('ends at a stop, and ignores the connection to the broker meanwhile', () => {
    const lane = situation('standby');
    lane.brokerIs(false);
    lane.hush(5);
    expect(lane.phase).toBe('standby');
    lane.speak(2);
    expect(lane.phase).toBe('acquiring');
    expect(lane.all('request_token')).toHaveLength(1);
    lane.speak(10);
    lane.brokerIs(true);
    lane.pass(1000);
    expect(lane.all('request_token')).toHaveLength(2);
    lane.stop();
    expect(lane.phase).toBe('idle');
    const asleep = situation('standby');
    asleep.stop();
    expect(asleep.phase).toBe('idle');
    expect(asleep.last('close_capture')).toBeDefined();
    expect(asleep.state).toMatchObject({ wanted: false });
  });

  it('closes the ending stream when a stop follows at once', () => {
    const lane = asleepAfter().goLive();
    lane.until(() => lane.phase === 'standby', 30_000);
    expect(lane.state.oldSession?.stage.is).toBe('ending');
    lane.stop();
    expect(lane.last('close_stream').stream).toBe(1);
    expect(lane.timers.size).toBe(0);
  });

  it('opens the next stream while the old one ends when a voice follows at once', () => {
    const lane = asleepAfter().goLive();
    lane.until(() => lane.phase === 'standby', 30_000);
    lane.speak(2);
    expect(lane.phase).toBe('acquiring');
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
  });

  it('loses and counts the kept audio when the lane is stopped', () => {
    const lane = situation('standby');
    lane.hush(3);
    lane.stop();
    expect(lane.accounts).toMatchObject({ captured: 3, dropped: 3, lost: 0, held: 0 });
  });
});

describe('a lane that is started by a voice', () => {
  it('listens without a session until a voice is heard', () => {
    const lane = asleepAfter({ start: 'voice' });
    lane.brokerIs(true);
    lane.start();
    expect(lane.phase).toBe('standby');
    expect(lane.all('open_capture')).toHaveLength(1);
    lane.hush(100);
    expect(lane.all('request_token')).toHaveLength(0);
    lane.speak(2);
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    lane.speak(10);
    expect(lane.accounts.lost).toBe(0);
  });
});

describe('a day at a desk', () => {
  it('with bursts of visitors: nothing is lost, and the streams cost little more than the speech', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 10_000, echo: 'off' } });
    behave(lane, { maxDurationMs: 60_000 });
    lane.start();
    lane.hush(60);
    let speechMs = 0;
    let id = 0;
    for (let visitor = 0; visitor < 12; visitor++) {
      lane.hush(900);
      expect(lane.phase).toBe('standby');
      for (let context = 0; context < 12; context++) {
        lane.speak(12);
        lane.hush(4);
        speechMs += 16 * CHUNK_MS;
        const stream = lane.hearing?.id;
        if (stream === undefined) continue;
        lane.understands(`t${++id}`, stream);
        lane.hear(`t${id}`, 800, true, stream);
      }
    }
    lane.hush(200);
    const { counts, backlog } = lane.state;
    expect(backlog.accounts).toMatchObject({ lost: 0, dropped: 0 });
    expect(counts.failures).toBe(0);
    expect(counts.standbys).toBe(13);
    expect(lane.now).toBeGreaterThan(4_000_000);
    expect(counts.streamMs / speechMs).toBeLessThan(1.75);
  });
});
