import { describe, expect, test } from 'vitest';
import { createHarness, sentence } from './harness.ts';
import { speech } from './voice.ts';

const HZ = 24_000;

describe('limits of a stream', () => {
  test('closes running streams and refuses new ones when the balance runs out', () => {
    const harness = createHarness({ balanceMs: 10_000 });
    const [a, b] = [harness.open(), harness.open()];
    harness.run(a);
    harness.pass(10_000);
    for (const stream of [a, b]) {
      expect(harness.messages(stream, 'error').at(-1)?.data['reason']).toBe('insufficient_balance');
      expect(harness.close(stream)).not.toBeNull();
    }
    expect(() => harness.open()).toThrow('insufficient_balance');
  });

  test('refuses s2s tokens at the other products, which are not emulated', () => {
    const harness = createHarness();
    const ask = (secret: string) => harness.service.open({ secret, intent: 'stt' }, harness.now());
    expect(ask(harness.session().token)).toMatchObject({ reason: 'intent_mismatch' });
    expect(ask(harness.session({ intent: 'stt' }).token)).toMatchObject({ reason: 'not_emulated' });
  });
});

describe('revocation', () => {
  test('sends session_revoked at once, closes within the heartbeat, and refuses new streams', () => {
    const harness = createHarness();
    const session = harness.session();
    const stream = harness.open(session.token);
    harness.run(stream);
    const revokedAt = harness.now();
    harness.service.revoke(session, harness.now());
    harness.pass(0);
    expect(harness.messages(stream, 'session_revoked')).toHaveLength(1);
    harness.pass(1000);
    expect((harness.close(stream)?.at ?? Number.NaN) - revokedAt).toBeLessThanOrEqual(1000);
    expect(() => harness.open(session.token)).toThrow('session_revoked');
  });

  test('reports the revocation when the client hangs up on its message', () => {
    const harness = createHarness();
    const session = harness.session();
    const stream = harness.open(session.token);
    harness.run(stream);
    harness.service.revoke(session, harness.now());
    harness.service.disconnected(stream, 1006, '', 'network', harness.now());
    const closed = { code: 1006, reason: 'session_revoked', by: 'client' };
    expect(harness.service.reports(harness.now())).toMatchObject([{ closed }]);
  });
});

describe('reports', () => {
  test('show the measurements of a stream', () => {
    const harness = createHarness();
    const { token } = harness.session({ client_reference_id: 'museum.kiosk-01' });
    const stream = harness.open(token);
    harness.run(stream);
    harness.speak(stream, sentence());
    harness.pass(3000);
    harness.disconnect(stream);
    const [report] = harness.service.reports(harness.now());
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

  test('count sound that two streams of one client sent', () => {
    const harness = createHarness();
    const { token } = harness.session({ client_reference_id: 'museum.kiosk-01' });
    const [old, next] = [harness.open(token), harness.open(token)];
    harness.run(old);
    harness.run(next);
    const sound = speech(1.6, HZ);
    harness.speak(old, sound);
    harness.speak(next, sound);
    const repeated = harness.service.reports(harness.now()).map(({ repeated_frames }) => repeated_frames);
    expect(repeated).toEqual([0, 5]);
  });

  test('keep a limited number of closed streams', () => {
    const harness = createHarness();
    for (let count = 0; count < 600; count++) harness.disconnect(harness.open());
    expect(harness.service.reports(harness.now())).toHaveLength(500);
    expect(harness.service.sessions.size).toBe(0);
  });

  test('leave nothing to do after all streams have closed', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.run(stream);
    harness.disconnect(stream);
    expect(harness.service.nextAt(harness.now())).toBe(Number.POSITIVE_INFINITY);
  });
});
