import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { type Cause, RECOVERY } from '../../../src/core/recovery.ts';
import type { StreamMessage } from '../../../src/ports/stream.ts';
import { REFUSAL_REASONS } from '../../../src/protocol/service/error.ts';
import { World } from './world.ts';

const error = (data: Extract<StreamMessage, { message_type: 'error' }>['data']) => (world: World) =>
  world.error(data);
const says =
  (message_type: 'max_duration_reached' | 'session_revoked' | 'eos' | 'end_of_stream') => (world: World) =>
    world.says({ message_type, data: {} });

/** Each cause of the table, in every way in which it can come, on a stream that is up. */
const ON_A_STREAM: readonly (readonly [string, Cause, (world: World) => void])[] = [
  ['a lost socket', 'network', (world) => world.end(1006)],
  ['a normal close without a word before it', 'network', (world) => world.end(1000)],
  ['a service that goes away', 'network', (world) => world.end(1001, 'going away')],
  ['its end event', 'stream_ended', says('eos')],
  ['its newer end event', 'stream_ended', says('end_of_stream')],
  ['max_duration_reached', 'max_duration_reached', says('max_duration_reached')],
  ['session_revoked', 'session_revoked', says('session_revoked')],
  ['SERVICE_TIMEOUT', 'service_timeout', error({ code: 'SERVICE_TIMEOUT' })],
  ['a close for a broken policy', 'service_error', (world) => world.end(1008)],
  ['an error of the service', 'service_error', (world) => world.end(1011)],
  ['a restart of the service', 'service_error', (world) => world.end(1012)],
  ['an overloaded service', 'service_error', (world) => world.end(1013, 'try again later')],
  ['a broken gateway', 'service_error', (world) => world.end(1014)],
  ["a code of the service's own", 'service_error', (world) => world.end(4321)],
  ['a refusal in a close', 'session_revoked', (world) => world.end(1008, 'session_revoked')],
  ['a refusal in a message', 'session_already_used', error({ reason: 'session_already_used' })],
  ['a refusal by number', 'max_duration_reached', error({ error_code: 202102 })],
  ['the limit of streams', 'session_limit_reached', error({ desc: 'Session limit reached' })],
];

describe('a live stream that ends', () => {
  it.each(ON_A_STREAM)('by %s is followed by another one (%s)', (_, cause, happen) => {
    const world = new World().goLive();
    world.speak(10);
    happen(world);
    const row = RECOVERY[cause];
    expect(world.phase).toBe(row.patience === 'parked' ? 'parked' : 'waiting');
    expect(world.state.problem?.code).toBe(cause);
    expect(world.last('close_stream')).toMatchObject({ stream: 1, how: 'terminate' });
    const ended = world.all('notify').find(({ kind }) => kind === 'session_ended');
    expect(ended?.detail).toEqual({ session: 'test-1...', cause, live_ms: 3200 });
    expect(world.notes.at(-1)).toBe(row.event ?? 'session_ended');
    expect(world.due('retry')).toBeLessThanOrEqual(row.patience === 'prompt' ? 1000 : 5000);

    world.speak(2);
    world.comeBack();
    expect(world.all('request_token').at(-1)).toMatchObject({ reason: row.tokenReason });
    expect(world.state.counts).toMatchObject({ sessions: 2, failures: 1 });
    world.speak(20);
    expect(world.accounts.lost).toBe(0);
    // All of it is said again to the new stream: the old one had not spoken a word of it.
    expect(world.state.counts.takenBack).toBe(10);
    expect(world.accounts.sent + world.accounts.held).toBe(32);
  });

  it('counts revocations, limits and rollovers', () => {
    const world = new World().goLive();
    says('session_revoked')(world);
    world.comeBack();
    says('max_duration_reached')(world);
    world.comeBack();
    expect(world.state.counts).toMatchObject({
      sessions: 3,
      revocations: 1,
      maxDurations: 1,
      rollovers: 1,
      failures: 2,
    });
    expect(world.notes).toEqual([
      'session_started',
      'session_ended',
      'revoked',
      'session_started',
      'session_ended',
      'max_duration',
      'session_started',
      'rollover',
    ]);
    const started = world.all('notify').filter(({ kind }) => kind === 'session_started');
    expect(started.map(({ detail }) => detail['reason'])).toEqual(['start', 'revoked', 'max_duration']);
  });

  it('in the middle of a word loses nothing of it', () => {
    const world = new World().goLive();
    world.speak(7);
    says('session_revoked')(world);
    world.speak(15);
    world.comeBack();
    world.speak(10);
    expect(world.accounts).toMatchObject({ captured: 32, lost: 0, dropped: 0, trimmed: 0 });
    const places = world.all('send_audio').map(({ capturedAt }) => capturedAt ?? 0);
    expect(places.slice(7)).toEqual(places.slice(7).toSorted((a, b) => a - b));
    expect(places.slice(7, 14)).toEqual(places.slice(0, 7));
    expect(world.wire).not.toContain('f');
  });

  it('lets the translation that is here already be heard to its end', () => {
    const world = new World().goLive();
    world.hear('a', 3000, true);
    world.end();
    world.pass(4000);
    const played = world.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0);
    expect(played).toBe(3000 * 48);
    expect(world.all('flush_playback')).toHaveLength(0);
  });

  it('tells the operator what the service said', () => {
    const world = new World().goLive();
    world.end(1006);
    expect(world.state.problem?.message).toBe('the service closed the stream (1006)');
    world.comeBack();
    world.end(4000, 'a'.repeat(500));
    expect(world.state.problem?.message).toBe(`the service closed the stream (4000, ${'a'.repeat(120)})`);
  });
});

describe('an early message instead of a task', () => {
  it.each(REFUSAL_REASONS)('with %s follows the table', (reason) => {
    const world = new World().goConfiguring();
    world.error({ code: reason.toUpperCase(), desc: 'no' });
    const cause = reason === 'pending_sessions_limit_reached' ? 'session_limit_reached' : reason;
    expect(world.state.problem?.code).toBe(cause);
    expect(world.phase).toBe(RECOVERY[cause].patience === 'parked' ? 'parked' : 'waiting');
  });

  it('that names the balance parks the lane, with the words of the service', () => {
    const world = new World().goConfiguring();
    world.error({ code: 'INSUFFICIENT_BALANCE', desc: 'top up first', error_code: 100_050 });
    expect(world.phase).toBe('parked');
    expect(world.state.problem).toMatchObject({
      code: 'insufficient_balance',
      message: 'the service says INSUFFICIENT_BALANCE: top up first',
    });
  });

  it('that calls the task invalid parks the lane', () => {
    const world = new World().goConfiguring();
    world.error({ code: 'VALIDATION_ERROR', desc: `target_language ${'x'.repeat(300)}` });
    expect(world.phase).toBe('parked');
    expect(world.state.problem?.code).toBe('task_rejected');
    expect(world.state.problem?.message).toHaveLength(200);
    world.comeBack();
    expect(world.phase).toBe('live');
  });

  it('that calls it invalid without a word does so too', () => {
    const world = new World().goConfiguring();
    world.error({ code: 'VALIDATION_ERROR' });
    expect(world.state.problem).toMatchObject({ code: 'task_rejected', message: 'the task is not valid' });
  });

  it('about something else is noted and does not end the try', () => {
    const world = new World().goConfiguring();
    world.error({ code: 'RATE_LIMIT_EXCEEDED', desc: 'slower, please' });
    expect(world.phase).toBe('configuring');
    expect(world.state.problem).toBeNull();
    expect(world.state.warning).toEqual({
      code: 'service_rate_limit_exceeded',
      message: 'slower, please',
      at: world.now,
    });
    world.error({});
    expect(world.state.warning).toMatchObject({ code: 'service_error', message: 'no details' });
  });
});

describe('a lane that parks', () => {
  it('gives up a token that a try at a rollover left over', () => {
    const world = new World().goRolling();
    world.grant();
    world.unreach(false);
    const { grant } = world.state.lease ?? {};
    expect(grant).toBeDefined();
    world.error({ reason: 'intent_mismatch' }, 1);
    expect(world.phase).toBe('parked');
    expect(world.state.lease).toBeNull();
    expect(world.all('forget_grant').map((effect) => effect.grant)).toContain(grant?.id);
  });
});

describe('a black hole', () => {
  it('is found when three pings in a row are not answered', () => {
    const world = new World().goLive();
    world.pongs = false;
    const liveAt = world.now;
    world.until(() => world.phase === 'waiting', 60_000);
    const { pingMs, pingsMissed } = LANE_DEFAULTS;
    expect(world.now - liveAt).toBeGreaterThanOrEqual(pingMs * (pingsMissed + 1));
    expect(world.now - liveAt).toBeLessThanOrEqual(pingMs * (pingsMissed + 1) + 10);
    expect(world.all('ping')).toHaveLength(pingsMissed);
    expect(world.state.problem?.code).toBe('unresponsive');
    world.pongs = true;
    world.comeBack();
    expect(world.last('notify').detail).toMatchObject({ reason: 'network' });
  });

  it('is not seen where only some answers are lost', () => {
    const world = new World().goLive();
    for (let i = 0; i < 6; i++) {
      world.pongs = i % 3 === 2;
      world.pass(LANE_DEFAULTS.pingMs);
    }
    expect(world.phase).toBe('live');
    expect(world.all('ping').length).toBeGreaterThanOrEqual(5);
  });
});

describe('failures in a row', () => {
  it('are followed by ever longer waits, up to a minute', () => {
    const longest = new Map<number, number>();
    for (let seed = 0; seed < 60; seed++) {
      const world = new World({ seed: seed * 7919 }).goConnecting();
      for (let failures = 1; failures <= 9; failures++) {
        world.unreach(true);
        expect(world.state.failures).toBe(failures);
        longest.set(failures, Math.max(longest.get(failures) ?? 0, world.due('retry')));
        world.until(() => world.phase === 'acquiring', 61_000);
        world.grant();
      }
    }
    for (const [failures, wait] of longest) {
      const bound = Math.min(60_000, 1000 * 2 ** (failures - 1));
      expect(wait).toBeLessThanOrEqual(bound);
      expect(wait).toBeGreaterThan(bound * 0.85);
    }
  });

  it('are forgotten after a stable minute, and not before', () => {
    const world = new World().goConnecting();
    world.unreach(true);
    world.comeBack();
    world.pass(LANE_DEFAULTS.stableMs - 1);
    expect(world.state.failures).toBe(1);
    world.pass(1);
    expect(world.state.failures).toBe(0);
  });

  it('are not forgotten by streams that only just live', () => {
    const world = new World().goLive();
    for (let i = 1; i <= 4; i++) {
      world.pass(LANE_DEFAULTS.stableMs - 5000);
      world.end();
      expect(world.state.failures).toBe(i);
      world.comeBack();
    }
  });

  it('are forgotten when somebody starts the lane anew', () => {
    const world = new World().goParked();
    world.stop();
    world.start();
    expect(world.state).toMatchObject({ failures: 0, problem: null, reason: 'start' });
  });
});
