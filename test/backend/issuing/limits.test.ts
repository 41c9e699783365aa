import { describe, expect, it } from 'vitest';
import { type IssueCase, openIssuerHarness } from './issuer-harness.ts';

/** Asks and waits for the answer. */
function request(harness: ReturnType<typeof openIssuerHarness>, asked: IssueCase = {}) {
  const id = harness.ask(asked);
  harness.pass(1000);
  const answer = harness.answerTo(id);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

describe('limits of one device', () => {
  it('denies a third lane, with the reason', () => {
    const harness = openIssuerHarness();
    for (const lane of ['a', 'b', 'a', 'b']) expect(request(harness, { lane }).session).not.toBeNull();
    const { error } = request(harness, { lane: 'c' });
    expect(error).toMatchObject({ code: 'lane_limit_reached', final: true, retry_after_s: 300 });
    expect(error?.detail).toBe(
      'this device already has sessions for its lanes a, b, and may have 2; the owner can raise limits.lanes',
    );
    // An unused lane makes room after the latest end of its last session.
    harness.pass(1_860_000);
    expect(request(harness, { lane: 'c' }).session).not.toBeNull();
  });

  it('allows 60 sessions an hour; the denial contains the wait for the next', () => {
    const harness = openIssuerHarness();
    for (let index = 0; index < 60; index += 1) {
      expect(request(harness, { reason: 'network' }).session).not.toBeNull();
      harness.pass(29_000);
    }
    const { error } = request(harness, { reason: 'network' });
    expect(error).toMatchObject({ code: 'hourly_limit_reached', final: false });
    expect(error?.detail).toContain('sessions in an hour (60)');
    expect(error?.retry_after_s).toBeGreaterThan(1790);
    harness.pass((error?.retry_after_s ?? 0) * 1000);
    expect(request(harness, { reason: 'network' }).session).not.toBeNull();
  });

  it('allows three sessions at once, for any reason given, and revokes replaced sessions', () => {
    for (const reason of ['start', 'rollover', 'network', 'refused'] as const) {
      const harness = openIssuerHarness();
      const alive = new Set<string>();
      for (let index = 0; index < 50; index += 1) {
        const { session } = request(harness, { reason, lane: index % 2 === 0 ? 'a' : 'b' });
        for (const id of harness.revoked.splice(0)) alive.delete(id);
        if (session !== null) alive.add(session.id);
        expect(alive.size).toBeLessThanOrEqual(3);
        harness.pass(9000);
      }
      expect(alive.size).toBeGreaterThan(0);
    }
  });

  it('never revokes the session that a lane uses, nor both sessions of a rollover', () => {
    const harness = openIssuerHarness();
    const a1 = request(harness, { lane: 'a' }).session?.id;
    const b1 = request(harness, { lane: 'b' }).session?.id;
    harness.pass(100_000);
    const a2 = request(harness, { lane: 'a', reason: 'rollover' }).session?.id;
    // All three are needed: the fourth is denied until the latest end of the rollover.
    const { error } = request(harness, { lane: 'b', reason: 'rollover' });
    expect(error).toMatchObject({ code: 'device_sessions_limit_reached', final: false });
    expect(error?.detail).toContain('3 sessions, its limit');
    expect(error?.retry_after_s).toBeLessThanOrEqual(90);
    expect(harness.revoked).toEqual([]);
    harness.pass((error?.retry_after_s ?? 0) * 1000);
    expect(request(harness, { lane: 'b', reason: 'rollover' }).session).not.toBeNull();
    expect(harness.revoked).toEqual([a1]);
    expect([a2, b1]).not.toContain(a1);
  });

  it('can be set for groups and for one device; later groups and the device win', () => {
    const harness = openIssuerHarness({
      groups: [
        { name: 'all', members: ['museum/*'], limits: { lanes: 1 } },
        {
          name: 'lobby',
          members: ['museum/lobby-*'],
          limits: { lanes: 3 },
          session: { expiresInSeconds: 90 },
        },
        { name: 'closed', members: ['*/*-closed'], disabled: true },
      ],
      devices: { 'museum/lobby-1': { limits: { lanes: 2 } }, 'museum/x-closed': { disabled: false } },
    });
    const lanesOf = (device: string) =>
      ['a', 'b', 'c', 'd'].filter((lane) => request(harness, { device, lane }).session !== null).length;
    expect({ hall: lanesOf('hall-1'), one: lanesOf('lobby-1'), two: lanesOf('lobby-2') }).toEqual({
      hall: 1,
      one: 2,
      two: 3,
    });
    expect(request(harness, { device: 'y-closed' }).error?.code).toBe('device_disabled');
    expect(request(harness, { device: 'x-closed' }).session).not.toBeNull();
    expect(request(harness, { device: 'lobby' }).session).not.toBeNull();
  });

  it('allows at most half of all unused sessions, whatever other limits say', () => {
    const limits = { pendingSessions: 8, sessionsAtOnce: 60, lanes: 16, burst: 60, createsPerSecond: 1000 };
    const harness = openIssuerHarness({ limits });
    const lanes = Array.from({ length: 10 }, (_, index) => `lane-${index}`);
    const got = lanes.map((lane) => request(harness, { lane }));
    expect(got.filter(({ session }) => session !== null)).toHaveLength(4);
    expect(got.at(-1)?.error).toMatchObject({ code: 'pending_sessions_limit_reached', final: false });
    expect(got.at(-1)?.error?.detail).toContain('this device has 4 unused sessions');
    expect(request(harness, { device: 'honest' }).session).not.toBeNull();
    // All devices without an earlier session count as one here.
    const names = Array.from({ length: 10 }, (_, index) => `invented-${index}`);
    const unknownDevices = names.map((device) => request(harness, { device }));
    expect(unknownDevices.filter(({ session }) => session !== null)).toHaveLength(2);
    expect(unknownDevices.at(-1)?.error?.detail).toContain('new devices together');
    harness.pass(60_000);
    expect(request(harness, { lane: 'lane-9' }).session).not.toBeNull();
  });
});

describe('limits of one backend at the service', () => {
  it('makes five sessions a second, for known devices first', () => {
    const harness = openIssuerHarness();
    for (let index = 0; index < 40; index += 1) harness.ask({ device: `d-${index}` });
    harness.pass(4000);
    expect(harness.creates).toBeLessThanOrEqual(5 + 4 * 5);
    expect(harness.creates).toBeGreaterThan(20);
    harness.pass(20_000);
    expect(harness.answers.filter(({ session }) => session !== null)).toHaveLength(40);
  });

  it('denies a request that would wait for more than 10 s', () => {
    const harness = openIssuerHarness({}, 10);
    const ids = Array.from({ length: 70 }, (_, index) => harness.ask({ device: `d-${index}` }));
    expect(harness.answerTo(ids.at(-1) ?? '')?.error).toMatchObject({ code: 'backend_busy', final: false });
    expect(harness.answerTo(ids.at(-1) ?? '')?.error?.detail).toContain('5 sessions a second');
  });

  it.each([
    ['that had a session before', {}, true, false],
    ['that had a session before a restart', {}, true, true],
    ['that is listed by its name', { allow: ['museum/*', 'museum/honest'] }, false, false],
  ])(
    'serves a device %s within 2 s while one client asks under 1,000 invented names',
    (_what, more, before, restart) => {
      // The service is slow: 1.2 s for each session.
      const harness = openIssuerHarness(more, 1200);
      if (before) {
        harness.ask({ device: 'honest' });
        harness.pass(3000);
      }
      if (restart) harness.restart(true);
      const waits: number[] = [];
      for (let round = 0; round < 6; round += 1) {
        for (let index = 0; index < 1000; index += 1) harness.ask({ device: `invented-${index}` });
        const asked = harness.now;
        const id = harness.ask({ device: 'honest', reason: 'network' });
        harness.pass(20_000);
        const answer = harness.answerTo(id);
        expect(answer?.session).not.toBeNull();
        waits.push((answer?.at ?? Number.POSITIVE_INFINITY) - asked);
      }
      expect(Math.max(...waits)).toBeLessThanOrEqual(2000);
      // Not every invented name gets an answer.
      expect(harness.answers.length).toBeLessThan(2500);
    },
  );

  it('reserves half of the parallel requests for known devices while the service is slow', () => {
    const harness = openIssuerHarness({ limits: { concurrency: 4 } }, 6000);
    expect(harness.ask({ device: 'honest' })).toBe('r1');
    harness.pass(7000);
    for (let index = 0; index < 40; index += 1) harness.ask({ device: `invented-${index}` });
    harness.pass(1500);
    const asked = harness.now;
    const id = harness.ask({ device: 'honest', reason: 'network' });
    harness.pass(20_000);
    expect((harness.answerTo(id)?.at ?? Number.POSITIVE_INFINITY) - asked).toBeLessThanOrEqual(6500);
  });

  it('keeps the limits of a device after ten thousand invented names', () => {
    const harness = openIssuerHarness();
    expect(request(harness, { device: 'honest' }).session).not.toBeNull();
    for (let index = 0; index < 30_000; index += 1) harness.ask({ device: `invented-${index}` });
    const asked = harness.now;
    const id = harness.ask({ device: 'honest', reason: 'network' });
    harness.pass(2000);
    expect(harness.answerTo(id)?.at).toBeLessThanOrEqual(asked + 2000);
  });
});

describe('a trial', () => {
  it('does not count against the lanes: 14 trials in a row are answered, and the lane as well', () => {
    const harness = openIssuerHarness();
    for (let index = 0; index < 14; index += 1) {
      const answer = request(harness, { probe: true });
      expect(answer.error).toBeNull();
    }
    for (let index = 0; index < 100; index += 1) harness.ask({ probe: true });
    for (let index = 0; index < 8; index += 1) {
      expect(request(harness, { reason: 'network' }).session).not.toBeNull();
    }
  });

  it('is denied when there are too many, so that a device cannot keep the service busy', () => {
    const harness = openIssuerHarness();
    for (let index = 0; index < 300; index += 1) {
      harness.ask({ probe: true });
      harness.pass(1000);
    }
    expect(harness.creates).toBeLessThanOrEqual(16 + 60);
    expect(harness.answers.find(({ error }) => error !== null)?.error?.code).toBe('too_many_requests');
  });
});
