import { describe, expect, it } from 'vitest';
import { backoffBound, drawBackoff } from '../../../src/core/retry/backoff.ts';
import { fc } from '../../properties.ts';

const POLICY = { baseMs: 1000, capMs: 60_000, floorMs: 0 };
const FLOORED = { baseMs: 5000, capMs: 120_000, floorMs: 1000 };

function waits(policy: typeof POLICY, failures: number, atLeastMs?: number): number[] {
  return Array.from(
    { length: 2000 },
    (_, seed) => drawBackoff(policy, failures, seed * 7919, atLeastMs).waitMs,
  );
}

describe('the bound of a wait', () => {
  it.each([
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [6, 32_000],
    [7, 60_000],
    [8, 60_000],
    [1_000_000, 60_000],
  ])('grows with the failures: %i failures give %i ms', (failures, bound) => {
    expect(backoffBound(POLICY, failures)).toBe(bound);
  });

  it('is the same for no failure as for the first', () => {
    expect(backoffBound(POLICY, 0)).toBe(1000);
    expect(backoffBound(POLICY, -5)).toBe(1000);
  });
});

describe('a wait', () => {
  it('is drawn from the whole span, so that a fleet spreads out', () => {
    const drawn = waits(POLICY, 4);
    expect(Math.min(...drawn)).toBeLessThan(100);
    expect(Math.max(...drawn)).toBeGreaterThan(7900);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(8000);
    const mean = drawn.reduce((sum, wait) => sum + wait, 0) / drawn.length;
    expect(Math.abs(mean - 4000)).toBeLessThan(300);
  });

  it('is never below its floor and never above its bound', () => {
    const drawn = waits(FLOORED, 1);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(1000);
    expect(Math.min(...drawn)).toBeLessThan(1100);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(5000);
    expect(Math.max(...drawn)).toBeGreaterThan(4900);
  });

  it('is at least the requested wait, with jitter on top', () => {
    const drawn = waits(FLOORED, 1, 30_000);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(30_000);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(34_000);
    expect(Math.max(...drawn)).toBeGreaterThan(33_500);
  });

  it('is not shortened by a request below the floor', () => {
    expect(Math.min(...waits(FLOORED, 1, 10))).toBeGreaterThanOrEqual(1000);
  });

  it('is at most 1.5 times the requested wait, even when its own bound is longer', () => {
    const drawn = waits(POLICY, 9, 30_000);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(45_000);
    expect(Math.max(...drawn)).toBeGreaterThan(44_000);
  });

  it('keeps a fleet apart when a short wait is requested', () => {
    const drawn = waits(POLICY, 9, 100);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(1100);
    expect(Math.max(...drawn)).toBeGreaterThan(1050);
  });

  it('keeps a fleet apart when less than the floor is requested', () => {
    const slow = { baseMs: 360_000, capMs: 360_000, floorMs: 240_000 };
    const drawn = waits(slow, 1, 1000);
    expect(Math.max(...drawn) - Math.min(...drawn)).toBeGreaterThan(110_000);
  });

  it('is whole milliseconds, finite and repeatable for any input', () => {
    const policy = fc.record({ baseMs: fc.nat(), capMs: fc.nat(), floorMs: fc.nat() });
    fc.assert(
      fc.property(policy, fc.nat(), fc.integer(), fc.nat(), (given, failures, seed, atLeastMs) => {
        const drawn = drawBackoff(given, failures, seed, atLeastMs);
        expect(Number.isInteger(drawn.waitMs)).toBe(true);
        expect(drawn.waitMs).toBeGreaterThanOrEqual(Math.max(given.floorMs, atLeastMs));
        expect(drawBackoff(given, failures, seed, atLeastMs)).toEqual(drawn);
      }),
    );
  });

  it('advances the seed', () => {
    const first = drawBackoff(POLICY, 3, 5);
    const second = drawBackoff(POLICY, 3, first.seed);
    expect(second.waitMs).not.toBe(first.waitMs);
  });
});
