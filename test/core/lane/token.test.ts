import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { World } from './world.ts';

function requests(world: World) {
  return world.all('request_token').map(({ id, attempt }) => `${id}#${attempt}`);
}

describe('a token that does not come', () => {
  it('is asked for again under the same id, so that no second session is made', () => {
    const world = new World().goAcquiring();
    world.pass(LANE_DEFAULTS.tokenAnswerMs - 1);
    expect(requests(world)).toEqual(['test-1#1']);
    world.pass(LANE_DEFAULTS.tokenAnswerMs / 2 + 1);
    expect(requests(world)).toEqual(['test-1#1', 'test-1#2']);
    world.grant();
    expect(world.phase).toBe('connecting');
  });

  it('is asked for ever more slowly, under a new id once the old one is too old', () => {
    const world = new World().goAcquiring();
    world.pass(600_000);
    const asked = world.all('request_token');
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
    // The attempts are counted on, whatever the id.
    expect(asked.map(({ attempt }) => attempt)).toEqual(asked.map((_, i) => i + 1));
  });

  it('is still taken when it comes late, after the question was repeated', () => {
    const world = new World().goAcquiring();
    world.pass(18_000);
    expect(world.all('request_token').length).toBeGreaterThan(1);
    world.grant();
    expect(world.phase).toBe('connecting');
    expect(world.timers.has('token')).toBe(false);
  });

  it('is not used when it answers a question that was given up', () => {
    const world = new World().goAcquiring();
    world.until(() => world.last('request_token').id === 'test-2', 120_000);
    world.step({ type: 'granted', grant: world.grantFor('test-1') });
    expect(world.phase).toBe('acquiring');
    expect(world.last('forget_grant').grant).toBe('test-1');
    expect(world.state.counts.ignored).toBe(1);
    world.grant();
    expect(world.last('open_stream').grant).toBe('test-2');
  });
});

describe('a token answer', () => {
  it('that comes twice opens one stream, and the one in use is not forgotten for its double', () => {
    const world = new World().goConnecting();
    world.grant();
    expect(world.all('open_stream')).toHaveLength(1);
    expect(world.all('forget_grant')).toHaveLength(0);
    world.open();
    world.taskRuns();
    world.grant();
    expect(world.phase).toBe('live');
    // By now it is spent; the double must not stay in the vault longer than the stream lasts.
    world.end();
    expect(world.last('forget_grant').grant).toBe('test-1');
  });

  it('that comes twice does not take away a token that is kept for the next try', () => {
    const world = new World().goConnecting();
    world.unreach(false);
    world.grant();
    expect(world.all('forget_grant')).toHaveLength(0);
    world.until(() => world.phase === 'connecting', 2000);
    expect(world.last('open_stream').grant).toBe('test-1');
  });

  it('to another request is forgotten at once', () => {
    const world = new World().goAcquiring();
    world.step({ type: 'granted', grant: world.grantFor('somebody-else-7') });
    expect(world.phase).toBe('acquiring');
    expect(world.last('forget_grant').grant).toBe('somebody-else-7');
    expect(world.all('open_stream')).toHaveLength(0);
  });

  it('that nobody waits for any more is forgotten', () => {
    const world = new World().goAcquiring();
    world.stop();
    world.grant();
    expect(world.phase).toBe('idle');
    expect(world.last('forget_grant').grant).toBe('test-1');
  });

  it('whose window is over is not used', () => {
    const world = new World().goAcquiring();
    world.pass(1000);
    // Three seconds are kept off the end, and one has passed since the question.
    world.grant({ windowMs: LANE_DEFAULTS.connectMarginMs + 1000 });
    expect(world.phase).toBe('waiting');
    expect(world.state.problem).toMatchObject({ code: 'grant_unusable' });
    expect(world.last('forget_grant').grant).toBe('test-1');
    expect(world.notes).toEqual(['refused']);
  });

  it('is used to the last moment of its window, counted from the question', () => {
    const world = new World().goAcquiring();
    world.pass(1000);
    world.grant({ windowMs: LANE_DEFAULTS.connectMarginMs + 1001 });
    expect(world.phase).toBe('connecting');
  });

  it.each([
    ['another product', { intent: 'stt' }, 'intent_mismatch', 'the token is for stt'],
    [
      'another transport',
      { connectionType: 'webrtc' },
      'connection_type_mismatch',
      'the token is for webrtc',
    ],
  ])('for %s parks the lane', (_, wrong, code, message) => {
    const world = new World().goAcquiring();
    world.grant(wrong);
    expect(world.phase).toBe('parked');
    expect(world.state.problem).toMatchObject({ code, message });
    expect(world.all('open_stream')).toHaveLength(0);
    expect(world.last('forget_grant').grant).toBe('test-1');
    expect(world.notes).toEqual(['refused', 'parked']);
  });
});

describe('a connection attempt that did not reach the service', () => {
  it('keeps its token for the next try', () => {
    const world = new World().goConnecting();
    world.unreach(false);
    expect(world.phase).toBe('waiting');
    expect(world.all('forget_grant')).toHaveLength(0);
    world.comeBack();
    expect(world.all('request_token')).toHaveLength(1);
    expect(world.all('open_stream').map(({ stream, grant }) => `${stream} ${grant}`)).toEqual([
      '1 test-1',
      '2 test-1',
    ]);
    expect(world.last('notify').detail).toMatchObject({ reason: 'network' });
  });

  it('three times with one token asks the backend anew, because the host may have moved', () => {
    const world = new World().goConnecting({ windowMs: 3_600_000 });
    const startedAt = world.now;
    for (let i = 0; i < 3; i++) {
      if (i > 0) world.until(() => world.phase === 'connecting', 10_000);
      expect(world.last('open_stream').grant).toBe('test-1');
      world.unreach(false);
    }
    expect(world.last('forget_grant').grant).toBe('test-1');
    expect(world.last('notify')).toMatchObject({
      kind: 'unreachable',
      detail: { host: 'stream.example', tries: 3 },
    });
    world.until(() => world.phase === 'acquiring', 10_000);
    expect(world.now - startedAt).toBeLessThan(10_000);
    world.grant({ streamHost: 'moved.example' });
    world.unreach(false);
    expect(world.state.problem?.message).toBe('cannot reach moved.example: no way to the service');
    // The count begins anew with the new token.
    expect(world.state.lease?.grant.id).toBe('test-2');
  });

  it('is followed by a new token when the operator says start', () => {
    const world = new World().goConnecting();
    world.unreach(false);
    world.start();
    expect(world.phase).toBe('acquiring');
    expect(world.last('forget_grant').grant).toBe('test-1');
    expect(world.all('request_token')).toHaveLength(2);
  });

  it('because nobody answers names the host', () => {
    const world = new World().goConnecting();
    world.until(() => world.phase === 'waiting', LANE_DEFAULTS.connectMs + 10);
    const message = 'stream.example does not answer the connection';
    expect(world.state.problem).toMatchObject({ code: 'setup_timeout', message });
  });

  it('keeps it over several tries, but not over its window', () => {
    const world = new World().goConnecting({ windowMs: 5000 });
    for (let tries = 1; world.phase === 'connecting'; tries++) {
      expect(tries).toBeLessThan(20);
      world.unreach(false);
      world.until(() => world.phase !== 'waiting', 61_000);
    }
    expect(world.phase).toBe('acquiring');
    expect(world.last('forget_grant').grant).toBe('test-1');
    expect(world.last('request_token')).toMatchObject({ id: 'test-2', reason: 'network' });
    const lastOpen = world.last('open_stream').at;
    expect(lastOpen).toBeLessThan(50_000 + 20_000 - LANE_DEFAULTS.connectMarginMs);
  });

  it('gets a new token when the old one may have been seen', () => {
    const world = new World().goConnecting();
    world.unreach(true);
    expect(world.last('forget_grant').grant).toBe('test-1');
    world.comeBack();
    expect(world.all('open_stream').map(({ grant }) => grant)).toEqual(['test-1', 'test-2']);
  });

  it('gives the kept token back when the lane is stopped', () => {
    const world = new World().goConnecting();
    world.unreach(false);
    world.stop();
    expect(world.last('forget_grant').grant).toBe('test-1');
    expect(world.state.lease).toBeNull();
  });

  it('does not bring back the token of a stream that was open', () => {
    const world = new World().goLive();
    world.unreach(false);
    expect(world.phase).toBe('waiting');
    expect(world.state.lease).toBeNull();
    expect(world.notes).toEqual(['session_started', 'session_ended']);
  });
});

describe('a session that cannot be used here', () => {
  it('is refused with the reason, and another one is asked for soon', () => {
    const world = new World().goAcquiring();
    const { id } = world.last('request_token');
    world.step({ type: 'unusable', id, message: 'the stream_url holds a "#"' });
    expect(world.phase).toBe('waiting');
    expect(world.last('notify')).toMatchObject({
      kind: 'refused',
      detail: { cause: 'grant_unusable', message: 'the stream_url holds a "#"' },
    });
    world.until(() => world.last('request_token').id !== id, 20_000);
    world.grant();
    expect(world.phase).toBe('connecting');
  });

  it('of another request means nothing', () => {
    const world = new World().goAcquiring();
    world.step({ type: 'unusable', id: 'somebody-elses', message: 'no' });
    expect(world.phase).toBe('acquiring');
  });
});

describe('a denial', () => {
  it('is taken for what it says: later', () => {
    const world = new World().goAcquiring();
    world.deny({ code: 'limit', message: 'too many devices' });
    expect(world.phase).toBe('waiting');
    expect(world.state.problem).toMatchObject({ code: 'token_denied', message: 'limit: too many devices' });
    expect(world.due('retry')).toBeLessThanOrEqual(5000);
    expect(world.due('retry')).toBeGreaterThanOrEqual(1000);
    world.until(() => world.phase === 'acquiring', 6000);
    expect(world.last('request_token')).toMatchObject({ id: 'test-2', reason: 'refused', attempt: 1 });
  });

  it('is obeyed when it says how long', () => {
    const world = new World().goAcquiring();
    world.deny({ retryAfterMs: 90_000 });
    expect(world.due('retry')).toBeGreaterThanOrEqual(90_000);
    expect(world.due('retry')).toBeLessThanOrEqual(94_000);
    expect(world.last('notify').detail).toMatchObject({
      cause: 'token_denied',
      retry_ms: world.due('retry'),
    });
  });

  it.each([1e300, Number.POSITIVE_INFINITY, 31_536_000_000])(
    'is not obeyed for ever (%d ms)',
    (retryAfterMs) => {
      const world = new World().goAcquiring();
      world.deny({ retryAfterMs });
      expect(world.due('retry')).toBeGreaterThanOrEqual(600_000);
      expect(world.due('retry')).toBeLessThan(610_000);
    },
  );

  it('that is final parks the lane, which asks again in minutes', () => {
    const world = new World().goAcquiring();
    world.deny({ final: true, code: 'disabled', message: 'this device is switched off' });
    expect(world.phase).toBe('parked');
    expect(world.notes).toEqual(['refused', 'parked']);
    expect(world.last('notify').detail).toEqual({
      cause: 'token_denied_final',
      message: 'disabled: this device is switched off',
      retry_ms: world.due('retry'),
    });
    expect(world.due('retry')).toBeGreaterThanOrEqual(240_000);
    expect(world.due('retry')).toBeLessThanOrEqual(360_000);
    world.comeBack();
    expect(world.phase).toBe('live');
    expect(world.state.problem).toBeNull();
  });

  it('of another request means nothing', () => {
    const world = new World().goAcquiring();
    world.step({
      type: 'denied',
      id: 'test-0',
      denial: { code: 'x', message: 'x', final: true, retryAfterMs: null },
    });
    expect(world.phase).toBe('acquiring');
    expect(world.state.counts).toMatchObject({ ignored: 1, failures: 0 });
  });

  it('that comes after the token means nothing', () => {
    const world = new World().goConnecting();
    world.deny({ final: true });
    expect(world.phase).toBe('connecting');
  });
});
