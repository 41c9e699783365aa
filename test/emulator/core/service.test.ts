import { describe, expect, test } from 'vitest';
import { speech } from './voice.ts';
import { createWorld, sentence } from './world.ts';

const HZ = 24_000;

describe('limits of a stream', () => {
  test('max_session_duration_seconds: told at the very moment, then closed', () => {
    const world = createWorld();
    const { token } = world.session({ max_session_duration_seconds: 60 });
    const opened = world.now();
    const stream = world.open(token);
    world.run(stream);
    world.pass(60_000 - 2500 - 1);
    expect(world.messages(stream, 'max_duration_reached')).toEqual([]);
    world.pass(1);
    expect(world.messages(stream, 'max_duration_reached')[0]?.data).toMatchObject({ error_code: 202102 });
    expect(world.close(stream)).toEqual({ code: 1008, reason: 'max_duration_reached', at: opened + 60_000 });
  });

  test('concurrent streams of all sessions count together', () => {
    const world = createWorld({ concurrent: 2 });
    const first = world.open();
    world.open(world.session().token);
    expect(() => world.open(world.session().token)).toThrow('session_limit_reached');
    world.disconnect(first);
    expect(() => world.open(world.session().token)).not.toThrow();
  });

  test('a balance that runs out closes running streams and refuses new ones', () => {
    const world = createWorld({ balanceMs: 10_000 });
    const [a, b] = [world.open(), world.open()];
    world.run(a);
    world.pass(10_000);
    for (const stream of [a, b]) {
      expect(world.messages(stream, 'error').at(-1)?.data['reason']).toBe('insufficient_balance');
      expect(world.close(stream)).not.toBeNull();
    }
    expect(() => world.open()).toThrow('insufficient_balance');
  });

  test('more connections a minute with one token than allowed are closed without a word', () => {
    const world = createWorld({ connectionsPerMinute: 3 });
    const { token } = world.session();
    for (let count = 0; count < 3; count++) world.disconnect(world.open(token));
    expect(world.service.open({ secret: token, intent: 's2s' }, world.now())).toMatchObject({
      reason: 'rate_limit_exceeded',
      delivery: 'close',
    });
    world.pass(60_001);
    expect(() => world.open(token)).not.toThrow();
  });

  test('the other products refuse tokens of this one, and are not played themselves', () => {
    const world = createWorld();
    const ask = (secret: string) => world.service.open({ secret, intent: 'stt' }, world.now());
    expect(ask(world.session().token)).toMatchObject({ reason: 'intent_mismatch' });
    expect(ask(world.session({ intent: 'stt' }).token)).toMatchObject({ reason: 'not_emulated' });
  });
});

describe('revocation', () => {
  test('session_revoked at once, the close within the heartbeat, no new stream', () => {
    const world = createWorld();
    const session = world.session();
    const stream = world.open(session.token);
    world.run(stream);
    const revokedAt = world.now();
    world.service.revoke(session, world.now());
    world.pass(0);
    expect(world.messages(stream, 'session_revoked')).toHaveLength(1);
    world.pass(1000);
    expect((world.close(stream)?.at ?? Number.NaN) - revokedAt).toBeLessThanOrEqual(1000);
    expect(() => world.open(session.token)).toThrow('session_revoked');
  });

  test('all streams of the session end, those of others go on', () => {
    const world = createWorld();
    const session = world.session();
    const streams = [world.open(session.token), world.open(session.token)];
    const other = world.open();
    world.service.revoke(session, world.now());
    world.pass(2000);
    expect(streams.map((stream) => world.close(stream)?.code)).toEqual([1008, 1008]);
    expect(world.close(other)).toBeNull();
  });
});

describe('what is measured', () => {
  test('a report of a stream', () => {
    const world = createWorld();
    const { token } = world.session({ client_reference_id: 'museum.kiosk-01' });
    const stream = world.open(token);
    world.run(stream);
    world.speak(stream, sentence());
    world.pass(3000);
    world.disconnect(stream);
    const [report] = world.service.reports(world.now());
    expect(report).toMatchObject({
      client_reference_id: 'museum.kiosk-01',
      phase: 'closed',
      source: 'en',
      targets: ['es'],
      frames_in: 11,
      audio_ms_in: 3300,
      bytes_in: 3.3 * HZ * 2,
      pacing_violations: 0,
      duplicate_frames: 0,
      segments: 1,
      closed: { by: 'client' },
    });
    expect(report?.billed_ms).toBe(2500 + 11 * 320 + 3000);
    expect(JSON.stringify(report)).not.toContain(token);
  });

  test('sound that two streams of one client sent', () => {
    const world = createWorld();
    const { token } = world.session({ client_reference_id: 'museum.kiosk-01' });
    const [old, next] = [world.open(token), world.open(token)];
    world.run(old);
    world.run(next);
    const sound = speech(1.6, HZ);
    world.speak(old, sound);
    world.speak(next, sound);
    const repeated = world.service.reports(world.now()).map(({ repeated_frames }) => repeated_frames);
    expect(repeated).toEqual([0, 5]);
  });

  test('closed streams are remembered, but not all of them', () => {
    const world = createWorld();
    for (let count = 0; count < 600; count++) world.disconnect(world.open());
    expect(world.service.reports(world.now())).toHaveLength(500);
    expect(world.service.sessions.size).toBe(0);
  });

  test('nothing is left to do when all streams are gone', () => {
    const world = createWorld();
    const stream = world.open();
    world.run(stream);
    world.disconnect(stream);
    expect(world.service.nextAt(world.now())).toBe(Number.POSITIVE_INFINITY);
  });
});
