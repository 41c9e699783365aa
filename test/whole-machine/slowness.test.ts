import { describe, expect, it } from 'vitest';
import { excuse, isAboutTime, MOST_PROBE_MS, TimingError, timed, turnsOf, watchStrain } from './slowness.ts';

const CALM = { waitedShare: 0.05, probeMs: MOST_PROBE_MS / 3, ownXruns: 0 };

describe('the excuse for a failure in real time', () => {
  it('is only a machine that is busy with other work or too slow', () => {
    expect(excuse(CALM)).toBeNull();
    expect(excuse({ ...CALM, waitedShare: 0.6 })).toMatch(/too busy.* 60 %/);
    expect(excuse({ ...CALM, probeMs: MOST_PROBE_MS + 1 })).toMatch(/too slow/);
    expect(excuse({ ...CALM, ownXruns: 3 })).toMatch(/too slow.* 3 times/);
    expect(excuse({ ...CALM, probeMs: Number.POSITIVE_INFINITY })).toMatch(/too slow/);
  });

  it('covers delays and flawed sound, but no wrong results', () => {
    expect(isAboutTime(new Error('after 120 s still not: it is live'))).toBe(true);
    expect(isAboutTime(new Error('the guest agent is silent'))).toBe(true);
    expect(isAboutTime(new Error('expected [ "a token" ] to deeply equal []'))).toBe(false);
    expect(isAboutTime('after 3 s still not: it is live')).toBe(false);
    expect(() => timed(() => expect(0.2).toBeLessThan(0.05))).toThrow(TimingError);
    expect(() => timed(() => expect(0.02).toBeLessThan(0.05))).not.toThrow();
  });

  it('is not a machine that was fast and no longer answers', async () => {
    const gone = { pid: 2 ** 30, sh: () => Promise.reject(new Error('the guest agent is silent')) };
    expect(excuse(await (await watchStrain(gone, MOST_PROBE_MS / 3)).measure())).toBeNull();
    expect(excuse(await (await watchStrain(gone)).measure())).toMatch(/too slow/);
  });

  it('counts xruns of the test’s own player and recorder in this scenario, from the machine’s journal', async () => {
    const counted = async (before: number, after: number): Promise<number> => {
      const counts = [before, after];
      const sh = async (script: string) => (script.startsWith('journalctl') ? `${counts.shift()}\n` : '');
      return (await (await watchStrain({ pid: process.pid, sh })).measure()).ownXruns;
    };
    expect(await counted(2, 5)).toBe(3);
    expect(await counted(2, 2)).toBe(0);
    // After loading an earlier state.
    expect(await counted(5, 1)).toBe(1);
  });

  it('measures the run time of a computing thread', () => {
    const before = turnsOf(process.pid);
    for (const until = performance.now() + 50; performance.now() < until; ) Math.sqrt(until);
    const { ranMs } = turnsOf(process.pid);
    expect(ranMs).toBeGreaterThan(before.ranMs);
    // No process has this id.
    expect(turnsOf(2 ** 30)).toEqual({ ranMs: 0, waitedMs: 0 });
  });
});
