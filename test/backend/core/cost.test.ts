import { describe, expect, it } from 'vitest';
import { openIssuerBench, type Wish } from './issuer-bench.ts';

/** Asks and waits for the answer. */
function request(bench: ReturnType<typeof openIssuerBench>, wish: Wish = {}) {
  const id = bench.ask(wish);
  bench.pass(1000);
  const answer = bench.answerTo(id);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

describe('what one device may cost', () => {
  it('is sessions for two lanes; the third is denied in words', () => {
    const bench = openIssuerBench();
    for (const lane of ['a', 'b', 'a', 'b']) expect(request(bench, { lane }).session).not.toBeNull();
    const { error } = request(bench, { lane: 'c' });
    expect(error).toMatchObject({ code: 'lane_limit_reached', final: true, retry_after_s: 300 });
    expect(error?.detail).toBe(
      'this device has sessions for its 2 lanes (a, b); the owner can raise limits.lanes',
    );
    // A lane that has gone makes room once its last session must be over.
    bench.pass(1_860_000);
    expect(request(bench, { lane: 'c' }).session).not.toBeNull();
  });

  it('is 60 sessions an hour, and the denial tells when the next may come', () => {
    const bench = openIssuerBench();
    for (let index = 0; index < 60; index += 1) {
      expect(request(bench, { reason: 'network' }).session).not.toBeNull();
      bench.pass(29_000);
    }
    const { error } = request(bench, { reason: 'network' });
    expect(error).toMatchObject({ code: 'hourly_limit_reached', final: false });
    expect(error?.detail).toContain('60 sessions of the last hour');
    expect(error?.retry_after_s).toBeGreaterThan(1790);
    bench.pass((error?.retry_after_s ?? 0) * 1000);
    expect(request(bench, { reason: 'network' }).session).not.toBeNull();
  });

  it('is three sessions at once, whatever it says why it asks: those it has replaced are revoked', () => {
    for (const reason of ['start', 'rollover', 'network', 'refused'] as const) {
      const bench = openIssuerBench();
      const alive = new Set<string>();
      for (let index = 0; index < 50; index += 1) {
        const { session } = request(bench, { reason, lane: index % 2 === 0 ? 'a' : 'b' });
        for (const id of bench.revoked.splice(0)) alive.delete(id);
        if (session !== null) alive.add(session.id);
        expect(alive.size).toBeLessThanOrEqual(3);
        bench.pass(9000);
      }
      expect(alive.size).toBeGreaterThan(0);
    }
  });

  it('never takes the session that a lane speaks over, nor both sessions of a rollover', () => {
    const bench = openIssuerBench();
    const a1 = request(bench, { lane: 'a' }).session?.id;
    const b1 = request(bench, { lane: 'b' }).session?.id;
    bench.pass(100_000);
    const a2 = request(bench, { lane: 'a', reason: 'rollover' }).session?.id;
    // All three are needed: the fourth is denied until the rollover must be over.
    const { error } = request(bench, { lane: 'b', reason: 'rollover' });
    expect(error).toMatchObject({ code: 'device_sessions_limit_reached', final: false });
    expect(error?.detail).toContain('3 sessions at once');
    expect(error?.retry_after_s).toBeLessThanOrEqual(90);
    expect(bench.revoked).toEqual([]);
    bench.pass((error?.retry_after_s ?? 0) * 1000);
    expect(request(bench, { lane: 'b', reason: 'rollover' }).session).not.toBeNull();
    expect(bench.revoked).toEqual([a1]);
    expect([a2, b1]).not.toContain(a1);
  });

  it('can be set for a group and for one device, the later and the nearer counting', () => {
    const bench = openIssuerBench({
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
      ['a', 'b', 'c', 'd'].filter((lane) => request(bench, { device, lane }).session !== null).length;
    expect({ hall: lanesOf('hall-1'), one: lanesOf('lobby-1'), two: lanesOf('lobby-2') }).toEqual({
      ...{ hall: 1, one: 2, two: 3 },
    });
    expect(request(bench, { device: 'y-closed' }).error?.code).toBe('device_disabled');
    expect(request(bench, { device: 'x-closed' }).session).not.toBeNull();
    expect(request(bench, { device: 'lobby' }).session).not.toBeNull();
  });

  it('is half of the unused sessions of all devices at most, whatever else it is allowed', () => {
    const limits = { pendingSessions: 8, sessionsAtOnce: 60, lanes: 16, burst: 60, createsPerSecond: 1000 };
    const bench = openIssuerBench({ limits });
    const lanes = Array.from({ length: 10 }, (_, index) => `lane-${index}`);
    const got = lanes.map((lane) => request(bench, { lane }));
    expect(got.filter(({ session }) => session !== null)).toHaveLength(4);
    expect(got.at(-1)?.error).toMatchObject({ code: 'pending_sessions_limit_reached', final: false });
    expect(got.at(-1)?.error?.detail).toContain('this device has 4 unused sessions');
    expect(request(bench, { device: 'honest' }).session).not.toBeNull();
    // Devices that have had no session before are as one in this.
    const names = Array.from({ length: 10 }, (_, index) => `invented-${index}`);
    const strangers = names.map((device) => request(bench, { device }));
    expect(strangers.filter(({ session }) => session !== null)).toHaveLength(2);
    expect(strangers.at(-1)?.error?.detail).toContain('had no session before');
    bench.pass(60_000);
    expect(request(bench, { lane: 'lane-9' }).session).not.toBeNull();
  });
});

describe('what one backend asks of the service', () => {
  it('is five sessions a second, the known devices first', () => {
    const bench = openIssuerBench();
    for (let index = 0; index < 40; index += 1) bench.ask({ device: `d-${index}` });
    bench.pass(4000);
    expect(bench.creates).toBeLessThanOrEqual(5 + 4 * 5);
    expect(bench.creates).toBeGreaterThan(20);
    bench.pass(20_000);
    expect(bench.answers.filter(({ session }) => session !== null)).toHaveLength(40);
  });

  it('tells whoever would wait for more than 10 s to come again', () => {
    const bench = openIssuerBench({}, 10);
    const ids = Array.from({ length: 70 }, (_, index) => bench.ask({ device: `d-${index}` }));
    expect(bench.answerTo(ids.at(-1) ?? '')?.error).toMatchObject({ code: 'backend_busy', final: false });
    expect(bench.answerTo(ids.at(-1) ?? '')?.error?.detail).toContain('5 sessions a second');
  });

  it.each([
    ['that had a session before', {}, true],
    ['that is listed by its name', { allow: ['museum/*', 'museum/honest'] }, false],
  ])(
    'goes to a device %s within 2 s while one client asks under 1,000 invented names',
    (_what, more, before) => {
      // The service is slow: 1.2 s for each session.
      const bench = openIssuerBench(more, 1200);
      if (before) {
        bench.ask({ device: 'honest' });
        bench.pass(3000);
      }
      const waits: number[] = [];
      for (let round = 0; round < 6; round += 1) {
        for (let index = 0; index < 1000; index += 1) bench.ask({ device: `invented-${index}` });
        const asked = bench.now;
        const id = bench.ask({ device: 'honest', reason: 'network' });
        bench.pass(20_000);
        const answer = bench.answerTo(id);
        expect(answer?.session).not.toBeNull();
        waits.push((answer?.at ?? Number.POSITIVE_INFINITY) - asked);
      }
      expect(Math.max(...waits)).toBeLessThanOrEqual(2000);
      // And whoever invents names is not told each time.
      expect(bench.answers.length).toBeLessThan(2500);
    },
  );

  it('leaves half of the line to known devices while the service is slow', () => {
    const bench = openIssuerBench({ limits: { concurrency: 4 } }, 6000);
    expect(bench.ask({ device: 'honest' })).toBe('r1');
    bench.pass(7000);
    for (let index = 0; index < 40; index += 1) bench.ask({ device: `invented-${index}` });
    bench.pass(1500);
    const asked = bench.now;
    const id = bench.ask({ device: 'honest', reason: 'network' });
    bench.pass(20_000);
    expect((bench.answerTo(id)?.at ?? Number.POSITIVE_INFINITY) - asked).toBeLessThanOrEqual(6500);
  });

  it('is not less for a device because names were invented by the ten thousand', () => {
    const bench = openIssuerBench();
    expect(request(bench, { device: 'honest' }).session).not.toBeNull();
    for (let index = 0; index < 30_000; index += 1) bench.ask({ device: `invented-${index}` });
    const asked = bench.now;
    const id = bench.ask({ device: 'honest', reason: 'network' });
    bench.pass(2000);
    expect(bench.answerTo(id)?.at).toBeLessThanOrEqual(asked + 2000);
  });
});

describe('a trial', () => {
  it('never spends what belongs to the lanes: 14 of them in a row are answered, and the lane is as well', () => {
    const bench = openIssuerBench();
    for (let index = 0; index < 14; index += 1) {
      const answer = request(bench, { probe: true });
      expect(answer.error).toBeNull();
    }
    for (let index = 0; index < 100; index += 1) bench.ask({ probe: true });
    for (let index = 0; index < 8; index += 1) {
      expect(request(bench, { reason: 'network' }).session).not.toBeNull();
    }
  });

  it('is denied when there are too many, so that a device cannot keep the service busy', () => {
    const bench = openIssuerBench();
    for (let index = 0; index < 300; index += 1) {
      bench.ask({ probe: true });
      bench.pass(1000);
    }
    expect(bench.creates).toBeLessThanOrEqual(16 + 60);
    expect(bench.answers.find(({ error }) => error !== null)?.error?.code).toBe('too_many_requests');
  });
});
