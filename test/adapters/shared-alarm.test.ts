import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSharedAlarm } from '../../src/adapters/shared-alarm.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const current: string[] = [];
  const at = createSharedAlarm(() => Date.now());
  const ring = (name: string, due: number, slackMs: number): (() => void) =>
    at(due, slackMs, () => current.push(`${name} ${Date.now()}`));
  return { at, ring, current };
}

describe('a shared alarm', () => {
  it('rings when one timer cannot wait longer, for all due timers in order', () => {
    const { ring, current } = open();
    ring('late', 1000, 800);
    ring('first', 900, 500);
    ring('second', 1200, 1000);
    ring('not yet', 1401, 100);
    vi.advanceTimersByTime(1399);
    expect(current).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(current).toEqual(['first 1400', 'late 1400', 'second 1400']);
    vi.advanceTimersByTime(1000);
    expect(current.at(-1)).toBe('not yet 1501');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is rarely set for a timer that is renewed again and again', () => {
    const { ring, current } = open();
    const set = vi.spyOn(globalThis, 'setTimeout');
    let cancel = ring('starved', 800, 800);
    for (let chunk = 1; chunk <= 100; chunk++) {
      vi.advanceTimersByTime(320);
      cancel();
      cancel = ring('starved', Date.now() + 800, 800);
    }
    expect(set.mock.calls.length).toBeLessThan(30);
    expect(current).toEqual([]);
    vi.advanceTimersByTime(1600);
    expect(current).toEqual(['starved 33600']);
  });

  it('rings sooner when a new timer can wait less', () => {
    const { ring, current } = open();
    ring('patient', 1000, 5000);
    ring('hasty', 500, 10);
    vi.advanceTimersByTime(510);
    expect(current).toEqual(['hasty 510']);
    vi.advanceTimersByTime(5490);
    expect(current.at(-1)).toBe('patient 6000');
  });

  it('does not call a timer that a callback has cancelled, and accepts new ones meanwhile', () => {
    const { at, ring, current } = open();
    at(100, 50, () => {
      cancel();
      ring('new', Date.now() + 10, 10);
    });
    const cancel = ring('gone', 110, 50);
    vi.advanceTimersByTime(150);
    expect(current).toEqual([]);
    vi.advanceTimersByTime(20);
    expect(current).toEqual(['new 170']);
  });

  it('keeps a program alive only while a timer waits', () => {
    const { ring } = open();
    const made: NodeJS.Timeout[] = [];
    const real = globalThis.setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms: number) => {
      const timer = real(callback, ms);
      made.push(timer);
      return timer;
    }) as typeof setTimeout);
    const cancel = ring('one', 100, 50);
    expect(made[0]?.hasRef()).toBe(true);
    cancel();
    expect(made[0]?.hasRef()).toBe(false);
    ring('another', 120, 500);
    expect(made).toHaveLength(1);
    expect(made[0]?.hasRef()).toBe(true);
  });

  it('waits longer than a timeout can', () => {
    const { ring, current } = open();
    ring('next month', 2 ** 31 + 5000, 10);
    vi.advanceTimersByTime(2 ** 31);
    expect(current).toEqual([]);
    vi.advanceTimersByTime(5010);
    expect(current).toHaveLength(1);
  });
});
