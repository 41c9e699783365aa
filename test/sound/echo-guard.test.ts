import { describe, expect, it } from 'vitest';
import {
  changePath,
  type EchoGuard,
  fallBack,
  modeInForce,
  NO_ECHO,
  observeEcho,
  reorder,
  tailOf,
} from '../../src/sound/echo-guard.ts';
import type { EchoMeasure } from '../../src/sound/echo-measure.ts';

const measure = (given: Partial<EchoMeasure> = {}): EchoMeasure => ({
  delayMs: 120,
  gainDb: -12,
  confidence: 1,
  ...given,
});

type Given = Parameters<typeof observeEcho>[2];

/** Observes an echo repeatedly. */
class Watcher {
  guard: EchoGuard = NO_ECHO;
  reported = 0;
  fell = 0;
  now = 1000;
  private readonly given: Omit<Given, 'now'>;

  constructor(given: Partial<Given> = {}) {
    this.given = { wanted: 'off', heard: 'microphone', playedMs: 0, ...given };
  }

  see(afterMs: number, seen: EchoMeasure = measure(), more: Partial<Given> = {}): void {
    this.now += afterMs;
    const news = observeEcho(this.guard, seen, { ...this.given, now: this.now, ...more });
    this.guard = news.guard;
    if (news.tell) this.reported += 1;
    if (news.fellBack) this.fell += 1;
  }
}

describe('an echo in the mode off', () => {
  it('is a loop when it is measured three times in two minutes', () => {
    const watcher = new Watcher();
    watcher.see(0);
    watcher.see(60_000);
    expect([watcher.fell, modeInForce(watcher.guard, 'off', 0)]).toEqual([0, 'off']);
    watcher.see(60_000);
    expect([watcher.fell, modeInForce(watcher.guard, 'off', 0)]).toEqual([1, 'half-duplex']);
    expect(watcher.guard.fallback).toMatchObject({ reason: 'loop', from: 'off' });
    expect(watcher.guard.fallback?.message).toContain('120 ms later, -12 dB');
    watcher.see(1000);
    watcher.see(1000);
    watcher.see(1000);
    expect(watcher.fell).toBe(1);
  });

  it('is reported when the confidence is 0.8 at least, and in the other modes always', () => {
    const watcher = new Watcher();
    watcher.see(0, measure({ confidence: 0.79 }));
    expect([watcher.reported, watcher.guard.measures.length]).toEqual([0, 1]);
    watcher.see(1000, measure({ confidence: 0.8 }));
    expect(watcher.reported).toBe(1);
    const gated = new Watcher({ wanted: 'half-duplex' });
    gated.see(0, measure({ confidence: 0.4 }));
    expect(gated.reported).toBe(1);
  });

  it('is not a loop when it is rarer', () => {
    const watcher = new Watcher();
    for (let count = 0; count < 20; count++) watcher.see(60_001);
    expect(watcher.fell).toBe(0);
  });

  it('is not a loop when each measurement differs', () => {
    const watcher = new Watcher();
    for (const delayMs of [20, 90, 160, 300, 230, 400, 20]) watcher.see(2000, measure({ delayMs }));
    expect(watcher.fell).toBe(0);
  });

  it('is not a loop when it is too weak for the service', () => {
    const watcher = new Watcher();
    for (let count = 0; count < 5; count++) watcher.see(2000, measure({ gainDb: -41 }));
    expect([watcher.fell, watcher.reported, watcher.guard.measures.length]).toEqual([0, 0, 0]);
  });

  it('may be tried again, and falls back again', () => {
    const watcher = new Watcher();
    for (let count = 0; count < 3; count++) watcher.see(2000);
    watcher.guard = reorder(watcher.guard);
    expect(modeInForce(watcher.guard, 'off', 0)).toBe('off');
    expect(tailOf(watcher.guard, 300)).toBeGreaterThan(300);
    for (let count = 0; count < 3; count++) watcher.see(2000);
    expect(watcher.fell).toBe(2);
  });
});

describe('an echo in the mode half-duplex', () => {
  it('is only measured', () => {
    const watcher = new Watcher({ wanted: 'half-duplex' });
    for (let count = 0; count < 30; count++) watcher.see(2000);
    expect([watcher.fell, watcher.reported, watcher.guard.measures.length]).toEqual([0, 1, 3]);
  });
});

describe('an echo in the mode cancel', () => {
  const cancelling: EchoGuard = { ...NO_ECHO, cancelsSince: 20_000 };

  it('closes the gate until there is a canceller that has learnt the room', () => {
    expect(modeInForce(NO_ECHO, 'cancel', 99_000)).toBe('half-duplex');
    expect(modeInForce(cancelling, 'cancel', 22_999)).toBe('half-duplex');
    expect(modeInForce(cancelling, 'cancel', 23_000)).toBe('cancel');
  });

  it('closes the gate again while the canceller learns, when the path has changed', () => {
    const changed = changePath(cancelling, 50_000);
    expect(modeInForce(changed, 'cancel', 52_999)).toBe('half-duplex');
    expect(modeInForce(changed, 'cancel', 53_000)).toBe('cancel');
    // A change during learning does not prolong it.
    expect(changePath(changed, 52_000)).toBe(changed);
    expect(changePath(cancelling, 22_000)).toBe(cancelling);
    expect(changePath(NO_ECHO, 50_000)).toBe(NO_ECHO);
  });

  it('is a loop just as soon when changes of the path are reported again and again', () => {
    const watcher = new Watcher({ wanted: 'cancel', heard: 'cancelled' });
    watcher.guard = cancelling;
    for (let count = 0; count < 3; count++) {
      watcher.guard = changePath(watcher.guard, 30_000 + 4000 * count);
      watcher.see(2000, measure(), { playedMs: 30_001 + 4000 * count });
    }
    expect(watcher.fell).toBe(1);
  });

  it('is a loop when the canceller leaves it although it had enough time', () => {
    const watcher = new Watcher({ wanted: 'cancel', heard: 'cancelled' });
    watcher.guard = cancelling;
    for (let count = 0; count < 5; count++) watcher.see(2000, measure(), { playedMs: 29_999 });
    expect(watcher.fell).toBe(0);
    for (let count = 0; count < 3; count++) watcher.see(2000, measure(), { playedMs: 30_000 + count });
    expect(watcher.fell).toBe(1);
    expect(watcher.guard.fallback?.message).toContain('although echo is cancelled');
    expect(modeInForce(watcher.guard, 'cancel', 90_000)).toBe('half-duplex');
  });

  it('is not a loop before the canceller, and the remaining echo says nothing about the room', () => {
    const watcher = new Watcher({ wanted: 'cancel', playedMs: 90_000 });
    for (let count = 0; count < 5; count++) watcher.see(2000);
    expect([watcher.fell, watcher.guard.measures.length]).toEqual([0, 3]);
    watcher.guard = { ...cancelling, measures: [] };
    watcher.see(2000, measure(), { heard: 'cancelled' });
    expect(watcher.guard.measures).toEqual([]);
  });

  it('falls back to half-duplex when the canceller does not work', () => {
    const guard = fallBack(cancelling, 'canceller', 'cancel', 'broken', 0);
    expect(guard).toMatchObject({ cancelsSince: null, fallback: { reason: 'canceller', message: 'broken' } });
    expect(modeInForce(guard, 'cancel', 90_000)).toBe('half-duplex');
  });
});

describe('reports to the owner', () => {
  it('contain the first echo, a changed one once a minute, the same one every quarter of an hour', () => {
    const watcher = new Watcher({ wanted: 'half-duplex' });
    const tells = (afterMs: number, seen: EchoMeasure): boolean => {
      const before = watcher.reported;
      watcher.see(afterMs, seen);
      return watcher.reported > before;
    };
    expect(tells(0, measure())).toBe(true);
    expect(tells(1000, measure({ delayMs: 300 }))).toBe(false);
    expect(tells(60_000, measure({ delayMs: 151 }))).toBe(true);
    expect(tells(60_000, measure({ delayMs: 150 }))).toBe(false);
    expect(tells(1000, measure({ delayMs: 150, gainDb: -4 }))).toBe(true);
    expect(tells(899_000, measure({ delayMs: 150, gainDb: -4 }))).toBe(false);
    expect(tells(1000, measure({ delayMs: 150, gainDb: -4 }))).toBe(true);
  });
});

describe('the tail', () => {
  const tail = (...seen: Partial<EchoMeasure>[]): number => {
    const watcher = new Watcher({ wanted: 'half-duplex' });
    for (const one of seen) watcher.see(2000, measure(one));
    return tailOf(watcher.guard, 300);
  };

  it('is the guess until there is a measurement', () => {
    expect(tailOf(NO_ECHO, 300)).toBe(300);
  });

  it.each([
    [20, -30, 200],
    [120, -30, 270],
    [120, -12, 450],
    [400, -30, 550],
    [400, 0, 850],
    [400, 90, 1500],
    [-20, -40, 200],
  ])('is computed from the measurement: %i ms and %i dB give %i ms', (delayMs, gainDb, expected) => {
    expect(tail({ delayMs, gainDb })).toBe(expected);
  });

  it('is the longest of the last three', () => {
    expect(tail({ delayMs: 400 }, { delayMs: 20 }, { delayMs: 50 })).toBe(730);
    expect(tail({ delayMs: 400 }, { delayMs: 20 }, { delayMs: 50 }, { delayMs: 100 })).toBe(430);
  });
});
