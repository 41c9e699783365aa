import { describe, expect, it } from 'vitest';
import { createVirtualClock } from './virtual-clock.ts';

describe('virtual clock', () => {
  it('fires timers at their time, in order of time, then of arming', () => {
    const clock = createVirtualClock(0);
    const seen: string[] = [];
    clock.at(20, () => seen.push(`c@${clock.now()}`));
    clock.at(10, () => seen.push(`a@${clock.now()}`));
    clock.at(10, () => seen.push(`b@${clock.now()}`));
    clock.at(31, () => seen.push('late'));
    clock.advance(30);
    expect(seen).toEqual(['a@10', 'b@10', 'c@20']);
    expect(clock.now()).toBe(30);
    expect(clock.armed).toBe(1);
  });

  it('fires timers armed by callbacks, and lets a callback cancel another timer', () => {
    const clock = createVirtualClock(0);
    const seen: number[] = [];
    const tick = (): void => {
      seen.push(clock.now());
      clock.at(clock.now() + 10, tick);
    };
    clock.at(10, tick);
    const cancel = clock.at(25, () => seen.push(-1));
    clock.at(15, cancel);
    clock.advance(45);
    expect(seen).toEqual([10, 20, 30, 40]);
  });

  it('fires an overdue timer late after a stall, without going back in time', () => {
    const clock = createVirtualClock(0);
    const seen: number[] = [];
    clock.at(10, () => seen.push(clock.now()));
    clock.stall(100);
    expect(seen).toEqual([]);
    clock.advance(0);
    expect(seen).toEqual([100]);
  });

  it('keeps the wall clock running beside the monotonic one', () => {
    const clock = createVirtualClock(500, null);
    expect(clock.wall()).toBeNull();
    clock.setWall(1_000_000);
    clock.advance(250);
    expect(clock.wall()).toBe(1_000_250);
    clock.setWall(null);
    expect(clock.wall()).toBeNull();
  });

  it('lets promises run between timers while time elapses', async () => {
    const clock = createVirtualClock(0);
    const seen: string[] = [];
    clock.at(10, () => {
      void Promise.resolve().then(() => clock.at(20, () => seen.push(`chained@${clock.now()}`)));
    });
    await clock.elapse(30);
    expect(seen).toEqual(['chained@20']);
  });

  it('reports code that never lets time pass, and refuses to go back', () => {
    const clock = createVirtualClock(0);
    const spin = (): void => void clock.at(clock.now(), spin);
    spin();
    expect(() => clock.advance(1)).toThrow(/never stop firing/);
    expect(() => clock.advance(-1)).toThrow(RangeError);
  });
});
