import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { REFUSALS } from '../../../src/ports/stream.ts';
import { finished, limit, refused, rejected } from '../../service-events.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { situation } from './situations.ts';

const LIMIT_MS = 60_000;
const OVER = limit('max_duration');
const REVOKED = limit('revoked');
const EOS = finished();

describe('the token of the next session', () => {
  it('is still in time when it comes late, after a repeated request', () => {
    const lane = new LaneHarness().goRolling();
    lane.hush(25);
    expect(lane.all('request_token').filter(({ reason }) => reason === 'rollover')).toHaveLength(2);
    lane.grant();
    lane.open();
    lane.taskRuns();
    lane.hush(2);
    expect(lane.hearing?.id).toBe(2);
  });

  it('never comes: the session ends, speech is held, and the request goes on', () => {
    const lane = new LaneHarness().goRolling();
    lane.brokerIs(false);
    lane.speak(40);
    lane.says(OVER, 1);
    expect(lane.phase).toBe('acquiring');
    lane.speak(5);
    lane.brokerIs(true);
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    expect(lane.accounts.lost).toBe(0);
    expect(lane.state.counts).toMatchObject({ maxDurations: 1, rollovers: 1 });
  });

  it('is denied: the request is repeated at growing intervals, and the live session goes on', () => {
    const lane = new LaneHarness().goRolling();
    const waits: number[] = [];
    for (let i = 0; i < 3 && lane.phase === 'rolling'; i++) {
      lane.deny();
      expect(lane.phase).toBe('live');
      waits.push(lane.due('roll'));
      lane.until(() => lane.phase === 'rolling', 30_000);
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1000);
    lane.speak(3);
    expect(lane.accounts.held).toBe(0);
  });

  it('is denied for good: one more attempt at the last moment, then the recovery table', () => {
    const lane = new LaneHarness().goRolling();
    lane.deny({ final: true });
    expect(lane.phase).toBe('live');
    expect(lane.notes).toContain('refused');
    lane.until(() => lane.phase === 'rolling', 60_000);
    lane.deny({ final: true });
    expect(lane.phase).toBe('live');
    lane.says(OVER, 1);
    expect(lane.phase).toBe('waiting');
    lane.comeBack();
    expect(lane.phase).toBe('live');
  });

  it('is not used if it is for another product, and the live session goes on', () => {
    const lane = new LaneHarness().goRolling();
    lane.grant({ intent: 'stt' });
    expect(lane.phase).toBe('live');
    expect(lane.all('open_stream')).toHaveLength(1);
    expect(lane.last('forget_grant').grant).toBe('test-2');
  });

  it('is used for the next attempt if it was not spent', () => {
    const lane = new LaneHarness().goRolling();
    lane.grant({ maxDurationMs: LIMIT_MS });
    lane.unreach(false);
    expect(lane.phase).toBe('live');
    lane.until(() => lane.phase === 'rolling', 5000);
    expect(lane.last('open_stream')).toMatchObject({ stream: 3, grant: 'test-2' });
  });
});

describe('the next session', () => {
  it.each(REFUSALS)('refused at the upgrade with %s: the live one goes on', (reason) => {
    const lane = new LaneHarness().goRolling();
    lane.speak(1);
    lane.grant();
    lane.refuse(reason);
    expect(lane.phase).toBe('live');
    expect(lane.hearing?.id).toBe(1);
    lane.speak(3);
    expect(lane.accounts.held).toBe(0);
    expect(lane.hearing?.mustGoFirst).toBe(reason.endsWith('limit_reached'));
  });

  it.each([
    ['a close', (lane: LaneHarness) => lane.end('cut', { reason: 'session_already_used' })],
    ['an early message', (lane: LaneHarness) => lane.says(refused('session_already_used'))],
    ['a broken connection', (lane: LaneHarness) => lane.end()],
    ['no way there', (lane: LaneHarness) => lane.unreach(true)],
    ['a revocation', (lane: LaneHarness) => lane.says(REVOKED)],
    ['a task it does not take', (lane: LaneHarness) => lane.says(rejected())],
  ])('is tried again when its set-up fails by %s', (_, happen) => {
    const lane = new LaneHarness().goRolling();
    lane.grant();
    lane.open();
    happen(lane);
    expect(['live', 'rolling']).toContain(lane.phase);
    expect(lane.hearing?.id).toBe(1);
    expect(lane.all('close_stream').map(({ stream }) => stream)).toEqual([2]);
    lane.until(() => lane.phase === 'rolling', 20_000);
    expect(lane.setup?.stage).toBe('acquiring');
  });

  it.each([['opens'], ['is set up']])('is given up in time for another attempt when it never %s', (what) => {
    const lane = new LaneHarness().goRolling();
    const { limitAt } = lane.hearing ?? {};
    lane.grant();
    if (what === 'is set up') lane.open();
    while (lane.phase === 'rolling') lane.speak(1);
    expect(lane.state).toMatchObject({ session: { kind: 'live' }, problem: { code: 'setup_timeout' } });
    lane.until(() => lane.phase === 'rolling', 2000);
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('rolling');
    lane.hush(2);
    expect(lane.state).toMatchObject({
      session: { kind: 'live', stream: { id: 3 } },
      oldSession: { stream: { id: 1 } },
    });
    expect(lane.now).toBeLessThan((limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs);
    expect(lane.accounts).toMatchObject({ lost: 0, held: 0 });
  });

  it('is never set up, twice: the live one runs to its limit, and recovery follows', () => {
    const lane = new LaneHarness().goRolling();
    lane.grant();
    lane.open();
    while (lane.phase === 'rolling') lane.speak(1);
    lane.until(() => lane.phase === 'rolling', 2000);
    lane.grant();
    lane.open();
    lane.speak(35);
    lane.says(OVER, 1);
    expect(lane.phase).toBe('configuring');
    lane.until(() => lane.phase === 'waiting', 20_000);
    lane.comeBack();
    expect(lane.phase).toBe('live');
    expect(lane.accounts.lost).toBe(0);
  });

  it('gets more time with a service that is known to be slow', () => {
    const lane = new LaneHarness().goConfiguring({ maxDurationMs: 60_000 });
    lane.pass(8000);
    lane.taskRuns();
    lane.until(() => lane.phase === 'rolling', 60_000);
    lane.grant();
    lane.open();
    lane.hush(44);
    expect(lane.phase).toBe('rolling');
    lane.taskRuns();
    lane.hush(2);
    expect(lane.hearing?.id).toBe(2);
  });

  it('gets silence in real time and pings while it waits to take over', () => {
    const lane = new LaneHarness().goReady();
    const sent = lane.all('send_audio').length;
    lane.speak(20);
    const since = lane.all('send_audio').slice(sent);
    expect(since.filter(({ stream, pcm }) => stream === 2 && pcm === null)).toHaveLength(20);
    expect(since.filter(({ stream, pcm }) => stream === 1 && pcm !== null)).toHaveLength(20);
    expect(lane.all('ping').filter(({ stream }) => stream === 2).length).toBeGreaterThanOrEqual(2);
    expect(lane.accounts.silenced).toBe(0);
  });

  it('gets silence while it waits also when the microphone delivers nothing', () => {
    const lane = new LaneHarness().goReady();
    lane.pass(4000);
    const heard = lane.all('send_audio').filter(({ stream }) => stream === 2);
    expect(heard.length).toBeGreaterThan(8);
    expect(heard.every(({ pcm }) => pcm === null)).toBe(true);
  });

  it('is given up when it no longer answers pings, and the live one goes on', () => {
    const lane = new LaneHarness().goReady();
    lane.pongs = false;
    while (lane.hearing?.id === 1 && lane.all('close_stream').length === 0) {
      lane.speak(1);
      lane.step({ type: 'pong', stream: 1 });
    }
    expect(lane.last('close_stream')).toMatchObject({ stream: 2 });
    expect(lane.state).toMatchObject({ session: { stream: { id: 1 } }, problem: { code: 'unresponsive' } });
    lane.until(() => lane.phase === 'rolling', 5000);
  });

  it('is replaced when it fails while it is ready', () => {
    const lane = new LaneHarness().goReady();
    lane.end('cut', {}, 2);
    expect(lane.phase).toBe('live');
    expect(lane.state).toMatchObject({ session: { kind: 'live', stream: { id: 1 } } });
    lane.until(() => lane.phase === 'rolling', 5000);
  });

  it('is tried at growing intervals after failures in a row', () => {
    let tries = 0;
    for (let seed = 0; seed < 20; seed++) {
      const lane = new LaneHarness({ seed: seed * 7919 }).goRolling();
      lane.watchers.push((effect) => {
        if (effect.type === 'request_token') lane.after(10, () => lane.grant());
        if (effect.type === 'open_stream') lane.after(10, () => lane.unreach(true));
      });
      lane.grant();
      lane.pass(16_000);
      tries += lane.all('open_stream').length - 1;
    }
    expect(tries / 20).toBeGreaterThan(2);
    expect(tries / 20).toBeLessThan(9);
  });
});

describe('an account without room for two streams', () => {
  it('the old session ends first, in a pause; speech is held meanwhile', () => {
    const lane = new LaneHarness().goRolling();
    lane.speak(3);
    lane.grant();
    lane.refuse('session_limit_reached', { status: 409 });
    lane.speak(4);
    expect(lane.phase).toBe('live');
    lane.hush(2);
    expect(lane.phase).toBe('waiting');
    lane.speak(5);
    expect(lane.accounts.held).toBe(5);
    lane.understands('a', 1);
    lane.hear('a', 300, true, 1);
    lane.until(() => lane.all('end_task').length === 1, 5000);
    lane.says(EOS, 1);
    lane.until(() => lane.phase === 'connecting', 1000);
    expect(lane.last('open_stream')).toMatchObject({ stream: 3, grant: 'test-2' });
    lane.open();
    lane.taskRuns();
    lane.hush(30);
    expect(lane.accounts).toMatchObject({ held: 0, lost: 0, dropped: 0 });
    expect(lane.state.counts).toMatchObject({ rollovers: 1, takenBack: 0 });
  });

  it('without a pause: the old session ends at the latest moment', () => {
    const lane = new LaneHarness().goRolling();
    lane.speak(1);
    lane.grant();
    lane.refuse('session_limit_reached', { status: 409 });
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (lane.phase === 'live') lane.speak(1);
    expect(lane.phase).toBe('waiting');
    expect(Math.abs(lane.now - latestAt)).toBeLessThanOrEqual(CHUNK_MS);
  });

  it('with an old session that never ends: the next one begins anyway', () => {
    const lane = situation('waiting, old session');
    lane.until(() => lane.phase === 'acquiring', 30_000);
    expect(lane.state.oldSession).toBeNull();
  });

  it('with a stop: both are closed', () => {
    const lane = situation('waiting, old session');
    lane.stop();
    expect(lane.state).toMatchObject({ session: { kind: 'idle' }, oldSession: null });
    expect(lane.timers.size).toBe(0);
  });

  it('with a start: it does not shorten the wait, because there is no room yet', () => {
    const lane = situation('waiting, old session');
    lane.start();
    expect(lane.phase).toBe('waiting');
  });

  it('with an old session that breaks off in a sentence: that is replayed to the next one', () => {
    const lane = situation('waiting, old session');
    lane.end('cut', {}, 1);
    expect(lane.state.counts.takenBack).toBeGreaterThan(0);
    lane.comeBack();
    lane.hush(20);
    expect(lane.accounts).toMatchObject({ held: 0, lost: 0 });
  });
});
