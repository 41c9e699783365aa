import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { LaneHarness } from './lane-harness.ts';

function requests(lane: LaneHarness) {
  return lane.all('request_token').map(({ id, attempt }) => `${id}#${attempt}`);
}

describe('a token that does not come', () => {
  it('is requested again under the same id, so that no second session is created', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(LANE_DEFAULTS.tokenAnswerMs - 1);
    expect(requests(lane)).toEqual(['test-1#1']);
    lane.pass(LANE_DEFAULTS.tokenAnswerMs / 2 + 1);
    expect(requests(lane)).toEqual(['test-1#1', 'test-1#2']);
    lane.grant();
    expect(lane.phase).toBe('connecting');
  });

  it('is requested at growing intervals, under a new id once the old one is too old', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(600_000);
    const asked = lane.all('request_token');
    const gaps = asked.slice(1).map(({ at }, i) => at - (asked[i]?.at ?? 0));
    const bases = [5000, 10_000, 20_000, 40_000, 60_000, 60_000];
    for (const [i, base] of bases.entries()) {
      expect(gaps[i]).toBeGreaterThanOrEqual(base);
      expect(gaps[i]).toBeLessThanOrEqual(base * 1.5);
    }
    expect(Math.max(...gaps)).toBeLessThanOrEqual(90_000);
    const ids = [...new Set(asked.map(({ id }) => id))];
    for (const id of ids) {
      const times = asked.filter((request) => request.id === id).map(({ at }) => at);
      expect(Math.max(...times) - Math.min(...times)).toBeLessThan(LANE_DEFAULTS.tokenRequestLifeMs);
    }
    expect(ids.length).toBeGreaterThan(3);
    // The count of attempts continues under a new id.
    expect(asked.map(({ attempt }) => attempt)).toEqual(asked.map((_, i) => i + 1));
  });

  it('is still used when it comes late, after a repeated request', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(18_000);
    expect(lane.all('request_token').length).toBeGreaterThan(1);
    lane.grant();
    expect(lane.phase).toBe('connecting');
    expect(lane.timers.has('token')).toBe(false);
  });

  it('is not used when it answers an abandoned request', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.until(() => lane.last('request_token').id === 'test-2', 120_000);
    lane.step({ type: 'granted', grant: lane.grantFor('test-1') });
    expect(lane.phase).toBe('acquiring');
    expect(lane.last('forget_grant').grant).toBe('test-1');
    expect(lane.state.counts.ignored).toBe(1);
    lane.grant();
    expect(lane.last('open_stream').grant).toBe('test-2');
  });
});

describe('a token answer', () => {
  it('opens one stream when it comes twice, and the token in use is not forgotten', () => {
    const lane = new LaneHarness().goConnecting();
    lane.grant();
    expect(lane.all('open_stream')).toHaveLength(1);
    expect(lane.all('forget_grant')).toHaveLength(0);
    lane.open();
    lane.taskRuns();
    lane.grant();
    expect(lane.phase).toBe('live');
    // It is spent by now; a repeated one must not stay in the token store longer than the stream lasts.
    lane.end();
    expect(lane.last('forget_grant').grant).toBe('test-1');
  });

  it('does not remove a token kept for the next attempt when it comes twice', () => {
    const lane = new LaneHarness().goConnecting();
    lane.unreach(false);
    lane.grant();
    expect(lane.all('forget_grant')).toHaveLength(0);
    lane.until(() => lane.phase === 'connecting', 2000);
    expect(lane.last('open_stream').grant).toBe('test-1');
  });

  it('is forgotten at once when it belongs to another request', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.step({ type: 'granted', grant: lane.grantFor('somebody-else-7') });
    expect(lane.phase).toBe('acquiring');
    expect(lane.last('forget_grant').grant).toBe('somebody-else-7');
    expect(lane.all('open_stream')).toHaveLength(0);
  });

  it('is forgotten when it is no longer needed', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.stop();
    lane.grant();
    expect(lane.phase).toBe('idle');
    expect(lane.last('forget_grant').grant).toBe('test-1');
  });

  it('is not used after its window', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(1000);
    // Three seconds are the safety margin, and one has passed since the request.
    lane.grant({ windowMs: LANE_DEFAULTS.connectMarginMs + 1000 });
    expect(lane.phase).toBe('waiting');
    expect(lane.state.problem).toMatchObject({ code: 'grant_unusable' });
    expect(lane.last('forget_grant').grant).toBe('test-1');
    expect(lane.notes).toEqual(['refused']);
  });

  it('is used to the last moment of its window, counted from the request', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.pass(1000);
    lane.grant({ windowMs: LANE_DEFAULTS.connectMarginMs + 1001 });
    expect(lane.phase).toBe('connecting');
  });

  it.each([
    ['another product', { intent: 'stt' }, 'intent_mismatch', 'the token is for stt'],
    [
      'another transport',
      { connectionType: 'webrtc' },
      'connection_type_mismatch',
      'the token is for webrtc',
    ],
  ])('for %s causes one prompt retry, and a second one parks the lane', (_, wrong, code, message) => {
    const lane = new LaneHarness().goAcquiring();
    lane.grant(wrong);
    expect(lane.phase).toBe('waiting');
    expect(lane.due('retry')).toBeLessThanOrEqual(1000);
    lane.until(() => lane.phase === 'acquiring', 1000);
    lane.grant(wrong);
    expect(lane.phase).toBe('parked');
    expect(lane.state.problem).toMatchObject({ code, message });
    expect(lane.all('open_stream')).toHaveLength(0);
    expect(lane.all('forget_grant').map(({ grant }) => grant)).toEqual(['test-1', 'test-2']);
    expect(lane.notes).toEqual(['refused', 'refused', 'parked']);
  });
});

describe('a connection attempt that did not reach the service', () => {
  it('keeps its token for the next attempt', () => {
    const lane = new LaneHarness().goConnecting();
    lane.unreach(false);
    expect(lane.phase).toBe('waiting');
    expect(lane.all('forget_grant')).toHaveLength(0);
    lane.comeBack();
    expect(lane.all('request_token')).toHaveLength(1);
    expect(lane.all('open_stream').map(({ stream, grant }) => `${stream} ${grant}`)).toEqual([
      '1 test-1',
      '2 test-1',
    ]);
    expect(lane.last('notify').detail).toMatchObject({ reason: 'network' });
  });

  it('three times with one token asks the backend again, because the host may have moved', () => {
    const lane = new LaneHarness().goConnecting({ windowMs: 3_600_000 });
    const startedAt = lane.now;
    for (let i = 0; i < 3; i++) {
      if (i > 0) lane.until(() => lane.phase === 'connecting', 10_000);
      expect(lane.last('open_stream').grant).toBe('test-1');
      lane.unreach(false);
    }
    expect(lane.last('forget_grant').grant).toBe('test-1');
    expect(lane.last('notify')).toMatchObject({
      kind: 'unreachable',
      detail: { host: 'stream.example', tries: 3 },
    });
    lane.until(() => lane.phase === 'acquiring', 10_000);
    expect(lane.now - startedAt).toBeLessThan(10_000);
    lane.grant({ streamHost: 'moved.example' });
    lane.unreach(false);
    expect(lane.state.problem?.message).toBe('cannot reach moved.example: no way to the service');
    // The count begins again with the new token.
    expect(lane.lease?.grant.id).toBe('test-2');
  });

  it.each([5, 60, 600])(
    'keeps the token for its whole window of %i s when this machine had no room',
    (windowS) => {
      const lane = new LaneHarness().goConnecting({ windowMs: windowS * 1000 });
      const startedAt = lane.now;
      while (lane.now - startedAt < 3_600_000) {
        lane.unreach(false, true);
        expect(lane.phase).toBe('waiting');
        lane.until(() => lane.phase === 'connecting' || lane.phase === 'acquiring', 130_000);
        if (lane.phase === 'acquiring') lane.grant({ windowMs: windowS * 1000 });
      }
      const tries = lane.all('open_stream').length;
      expect(lane.all('request_token').length).toBeLessThanOrEqual(Math.min(tries, 3600 / windowS + 2));
      expect(lane.notes).not.toContain('unreachable');
    },
  );

  it('is followed by a new token when the operator orders `start`', () => {
    const lane = new LaneHarness().goConnecting();
    lane.unreach(false);
    lane.start();
    expect(lane.phase).toBe('acquiring');
    expect(lane.last('forget_grant').grant).toBe('test-1');
    expect(lane.all('request_token')).toHaveLength(2);
  });

  it('names the host that does not answer', () => {
    const lane = new LaneHarness().goConnecting();
    lane.until(() => lane.phase === 'waiting', LANE_DEFAULTS.connectMs + 10);
    const message = 'stream.example did not accept the connection in time';
    expect(lane.state.problem).toMatchObject({ code: 'setup_timeout', message });
  });

  it('keeps the token over several attempts, but not after its window', () => {
    const lane = new LaneHarness().goConnecting({ windowMs: 5000 });
    for (let tries = 1; lane.phase === 'connecting'; tries++) {
      expect(tries).toBeLessThan(20);
      lane.unreach(false);
      lane.until(() => lane.phase !== 'waiting', 61_000);
    }
    expect(lane.phase).toBe('acquiring');
    expect(lane.last('forget_grant').grant).toBe('test-1');
    expect(lane.last('request_token')).toMatchObject({ id: 'test-2', reason: 'network' });
    const lastOpen = lane.last('open_stream').at;
    expect(lastOpen).toBeLessThan(50_000 + 20_000 - LANE_DEFAULTS.connectMarginMs);
  });

  it('gets a new token when the old one may have reached the service', () => {
    const lane = new LaneHarness().goConnecting();
    lane.unreach(true);
    expect(lane.last('forget_grant').grant).toBe('test-1');
    lane.comeBack();
    expect(lane.all('open_stream').map(({ grant }) => grant)).toEqual(['test-1', 'test-2']);
  });

  it('forgets the kept token when the lane is stopped', () => {
    const lane = new LaneHarness().goConnecting();
    lane.unreach(false);
    lane.stop();
    expect(lane.last('forget_grant').grant).toBe('test-1');
    expect(lane.lease).toBeNull();
  });

  it('does not reuse the token of a stream that was open', () => {
    const lane = new LaneHarness().goLive();
    lane.unreach(false);
    expect(lane.phase).toBe('waiting');
    expect(lane.lease).toBeNull();
    expect(lane.notes).toEqual(['session_started', 'session_ended']);
  });
});

describe('a session that this device cannot use', () => {
  it('is refused with the reason, and another one is requested soon', () => {
    const lane = new LaneHarness().goAcquiring();
    const { id } = lane.last('request_token');
    lane.step({ type: 'unusable', id, message: 'the stream_url holds a "#"' });
    expect(lane.phase).toBe('waiting');
    expect(lane.last('notify')).toMatchObject({
      kind: 'refused',
      detail: { cause: 'grant_unusable', message: 'the stream_url holds a "#"' },
    });
    lane.until(() => lane.last('request_token').id !== id, 20_000);
    lane.grant();
    expect(lane.phase).toBe('connecting');
  });

  it('of another request is ignored', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.step({ type: 'unusable', id: 'somebody-elses', message: 'no' });
    expect(lane.phase).toBe('acquiring');
  });
});

describe('a denial', () => {
  it('causes a later retry', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.deny({ code: 'limit', message: 'too many devices' });
    expect(lane.phase).toBe('waiting');
    expect(lane.state.problem).toMatchObject({
      code: 'token_denied',
      message: 'the backend gives no token: too many devices (limit)',
    });
    expect(lane.due('retry')).toBeLessThanOrEqual(5000);
    expect(lane.due('retry')).toBeGreaterThanOrEqual(1000);
    lane.until(() => lane.phase === 'acquiring', 6000);
    expect(lane.last('request_token')).toMatchObject({ id: 'test-2', reason: 'refused', attempt: 1 });
  });

  it('delays the retry by the time that it names', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.deny({ retryAfterMs: 90_000 });
    expect(lane.due('retry')).toBeGreaterThanOrEqual(90_000);
    expect(lane.due('retry')).toBeLessThanOrEqual(94_000);
    expect(lane.last('notify').detail).toMatchObject({
      cause: 'token_denied',
      retry_ms: lane.due('retry'),
    });
  });

  it.each([1e300, Number.POSITIVE_INFINITY, 31_536_000_000])(
    'is not obeyed forever (%d ms)',
    (retryAfterMs) => {
      const lane = new LaneHarness().goAcquiring();
      lane.deny({ retryAfterMs });
      expect(lane.due('retry')).toBeGreaterThanOrEqual(600_000);
      expect(lane.due('retry')).toBeLessThan(610_000);
    },
  );

  it('parks the lane when it is final; the lane retries after minutes', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.deny({ final: true, code: 'disabled', message: 'this device is switched off' });
    expect(lane.phase).toBe('parked');
    expect(lane.notes).toEqual(['refused', 'parked']);
    expect(lane.last('notify').detail).toEqual({
      cause: 'token_denied_final',
      message: 'the backend gives no token: this device is switched off (disabled)',
      retry_ms: lane.due('retry'),
    });
    expect(lane.due('retry')).toBeGreaterThanOrEqual(240_000);
    expect(lane.due('retry')).toBeLessThanOrEqual(360_000);
    lane.comeBack();
    expect(lane.phase).toBe('live');
    expect(lane.state.problem).toBeNull();
  });

  it('of another request is ignored', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.step({
      type: 'denied',
      id: 'test-0',
      denial: { code: 'x', message: 'x', final: true, retryAfterMs: null },
    });
    expect(lane.phase).toBe('acquiring');
    expect(lane.state.counts).toMatchObject({ ignored: 1, failures: 0 });
  });

  it('is ignored after the token', () => {
    const lane = new LaneHarness().goConnecting();
    lane.deny({ final: true });
    expect(lane.phase).toBe('connecting');
  });
});
