import { describe, expect, it } from 'vitest';
import {
  BUSY_GRACE_MS,
  beginRespawn,
  LOG_INTERVAL_MS,
  noteFailure,
  noteWorking,
  RESPAWN_BACKOFF,
  type RespawnState,
  type Verdict,
} from '../../../src/core/retry/respawn.ts';

/** Fails repeatedly until a time. @returns the verdicts with their times */
function fail(code: string, from: number, until: number, state: RespawnState) {
  const verdicts: (Verdict & { at: number })[] = [];
  let now = from;
  let current = state;
  while (now < until) {
    const verdict = noteFailure(current, { code, cause: code, workedMs: 0 }, now);
    verdicts.push({ ...verdict, at: now });
    current = verdict.state;
    now += verdict.waitMs;
  }
  return { verdicts, state: current };
}

describe('a device that failed', () => {
  it('is tried again at once, then less and less often, at a limited rate', () => {
    const { verdicts } = fail('lost', 0, 3_600_000, beginRespawn(1));
    expect(verdicts[0]?.waitMs).toBeLessThanOrEqual(RESPAWN_BACKOFF.baseMs);
    for (const { waitMs } of verdicts) {
      expect(waitMs).toBeGreaterThanOrEqual(RESPAWN_BACKOFF.floorMs);
      expect(waitMs).toBeLessThanOrEqual(RESPAWN_BACKOFF.capMs);
    }
    const inTheLastMinute = verdicts.filter(({ at }) => at > 3_540_000);
    expect(inTheLastMinute.length).toBeLessThan(40);
    expect(verdicts.filter(({ at }) => at < 2000).length).toBeGreaterThan(5);
  });

  it('waits differently by its seed, so that two devices do not act in step', () => {
    const waits = [1, 2, 3].map((seed) =>
      fail('lost', 0, 5000, beginRespawn(seed)).verdicts.map(({ waitMs }) => waitMs),
    );
    expect(new Set(waits.map(String)).size).toBe(3);
  });

  it('is reported once, and logged once a minute', () => {
    const { verdicts, state } = fail('not_found', 0, 600_000, beginRespawn(1));
    expect(verdicts.filter(({ report }) => report)).toHaveLength(1);
    expect(verdicts[0]?.report).toBe(true);
    const lines = verdicts.filter(({ log }) => log > 0);
    expect(lines.length).toBeGreaterThanOrEqual(8);
    expect(lines.length).toBeLessThanOrEqual(10);
    for (const [index, line] of lines.entries()) {
      if (index > 0) expect(line.at - (lines[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(LOG_INTERVAL_MS);
    }
    // Each line gives the number of its failures; none is missing.
    expect(lines.reduce((sum, { log }) => sum + log, 0) + state.unlogged).toBe(verdicts.length);
  });

  it('may be busy for a while after it was closed: it is tried quickly, without a report', () => {
    const { verdicts } = fail('busy', 0, 10_000, beginRespawn(1));
    const early = verdicts.filter(({ at }) => at < BUSY_GRACE_MS);
    expect(early.length).toBeGreaterThan(20);
    expect(early.every(({ report, log, waitMs }) => !report && log === 0 && waitMs <= 120)).toBe(true);
    expect(verdicts.find(({ report }) => report)?.at).toBeLessThan(BUSY_GRACE_MS + 200);
  });

  it('is reported as back only after it was reported as lost', () => {
    const quiet = noteWorking(beginRespawn(1), 0);
    expect(quiet.recovered).toBe(false);
    const { state } = fail('lost', 0, 5000, beginRespawn(1));
    const back = noteWorking(state, 0);
    expect(back.recovered).toBe(true);
    expect(noteWorking(back.state, 100).recovered).toBe(false);
    expect(noteFailure(back.state, { code: 'lost', cause: 'lost', workedMs: 500 }, 6000).report).toBe(true);
  });

  it('is not tried too often when it comes and goes, until it was stable', () => {
    const { state } = fail('lost', 0, 600_000, beginRespawn(1));
    const flicker = noteFailure(
      noteWorking(state, 50).state,
      { code: 'lost', cause: 'lost', workedMs: 50 },
      600_000,
    );
    expect(flicker.state.troubleSince).toBe(0);
    const proven = noteFailure(
      noteWorking(state, 20_000).state,
      { code: 'lost', cause: 'lost', workedMs: 20_000 },
      620_000,
    );
    expect(proven.state.troubleSince).toBe(620_000);
    expect(proven.waitMs).toBeLessThanOrEqual(RESPAWN_BACKOFF.baseMs);
  });

  it('logs at most two lines a minute while it flickers', () => {
    let state = beginRespawn(1);
    let lines = 0;
    for (let now = 0; now < 300_000; now += 500) {
      const verdict = noteFailure(state, { code: 'lost', cause: 'lost', workedMs: 100 }, now);
      if (verdict.log > 0) lines++;
      const working = noteWorking(verdict.state, 100);
      if (working.log) lines++;
      state = working.state;
    }
    // One of each pair: failed, and works again.
    expect(lines).toBeLessThanOrEqual(12);
  });
});
