import { describe, expect, it } from 'vitest';
import { createWatchdog } from '../../../../src/adapters/audio/child/watchdog.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

function watch() {
  const clock = createVirtualClock(0);
  const barks: number[] = [];
  let armed = 0;
  const counting = {
    ...clock,
    at: (at: number, callback: () => void) => {
      armed++;
      return clock.at(at, callback);
    },
  };
  const dog = createWatchdog(counting, 150, () => barks.push(clock.now()));
  return { clock, barks, dog, armed: () => armed };
}

describe('a watchdog', () => {
  it('barks when the event does not arrive, after the extra wait', () => {
    const { clock, barks, dog } = watch();
    dog.expect(2000);
    clock.advance(2149);
    expect(barks).toEqual([]);
    clock.advance(20_000);
    expect(barks).toEqual([2150]);
  });

  it('counts from the last event', () => {
    const { clock, barks, dog } = watch();
    for (let i = 0; i < 100; i++) {
      dog.expect(2000);
      clock.advance(i === 99 ? 0 : 320);
    }
    clock.advance(2149);
    expect(barks).toEqual([]);
    clock.advance(1);
    expect(barks).toEqual([99 * 320 + 2150]);
  });

  it('does not set a timer for each event', () => {
    const { clock, dog, armed } = watch();
    for (let at = 0; at < 60_000; at += 320) {
      dog.expect(2000);
      clock.advance(320);
    }
    expect(armed()).toBeLessThan(40);
  });

  it('accepts an event during the extra wait', () => {
    const { clock, barks, dog } = watch();
    dog.expect(2000);
    clock.advance(2100);
    dog.expect(2000);
    clock.advance(2149);
    expect(barks).toEqual([]);
    clock.advance(1);
    expect(barks).toEqual([4250]);
  });

  it('applies a shorter limit at once', () => {
    const { clock, barks, dog } = watch();
    dog.expect(10_000);
    clock.advance(100);
    dog.expect(2000);
    clock.advance(5000);
    expect(barks).toEqual([2250]);
  });

  it('stays quiet when nothing is expected', () => {
    const { clock, barks, dog } = watch();
    dog.expect(2000);
    clock.advance(2100);
    dog.rest();
    clock.advance(20_000);
    expect(barks).toEqual([]);
    dog.expect(500);
    clock.advance(650);
    expect(barks).toHaveLength(1);
  });
});
