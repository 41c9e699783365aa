import { describe, expect, it } from 'vitest';
import { createAlignment } from '../../src/sound/canceller/alignment.ts';

const RATE_HZ = 24_000;
const PER_MS = RATE_HZ / 1000;
const BLOCK = 240;

/** An alignment whose device times were `offMs` off for a second, after two measurements of the echo. */
function locked(offMs = 3) {
  const alignment = createAlignment(RATE_HZ, RATE_HZ);
  let heard = 0;
  const run = (seconds: number): boolean => {
    let hasJumped = false;
    for (let block = 0; block < seconds * 100; block++) {
      const { jumped } = alignment.next(heard + offMs * PER_MS, BLOCK);
      heard += BLOCK;
      hasJumped ||= jumped && block > 0;
    }
    return hasJumped;
  };
  const measure = (lag: number, isFirst = false) =>
    alignment.measured({ lag, likeness: 1, ago: BLOCK, frames: 12, isFirst }, heard);
  run(1);
  measure(0);
  run(1);
  measure(0);
  return { alignment, run, measure, place: () => alignment.place - heard };
}

describe('the place of the echo', () => {
  it.each([-40, 20, 60])('keeps an echo measured %i ms away, whatever the device times say', (ms) => {
    const { run, measure, place } = locked();
    const before = place();
    expect(measure(ms * PER_MS)).toBe('jump');
    expect(place() - before).toBeCloseTo(-ms * PER_MS, 3);
    expect(run(10)).toBe(false);
    expect(place() - before).toBeCloseTo(-ms * PER_MS, -1);
  });

  it('maps device times by their error at the measurement', () => {
    const { alignment, measure } = locked();
    const before = alignment.placeAt(5000);
    measure(20 * PER_MS);
    expect(alignment.placeAt(5000) - before).toBeCloseTo(-20 * PER_MS, 3);
  });

  it('follows a moving lag at its speed, also after a comparison in between', () => {
    const alignment = createAlignment(RATE_HZ, RATE_HZ);
    const ppm = 300;
    let heard = 0;
    let from = 0;
    /** How much later the echo is than the place says. */
    const lag = (): number => alignment.place - heard * (1 + ppm * 1e-6);
    for (let second = 0; second < 16; second++) {
      for (let block = 0; block < 100; block++) {
        alignment.next(heard * (1 + ppm * 1e-6), BLOCK);
        heard += BLOCK;
      }
      const isFirst = second === 0 || second === 5;
      if (isFirst) from = lag();
      if (isFirst || second > 5)
        alignment.measured({ lag: lag() - from, likeness: 1, ago: 0, frames: 4, isFirst }, heard);
    }
    expect(alignment.drift * 1e6).toBeCloseTo(ppm, -1);
  });

  it('jumps when the device times jump', () => {
    const { alignment, run, place } = locked();
    const before = place();
    let jumped = false;
    // The microphone loses 100 ms.
    for (let block = 0; block < 3; block++)
      jumped ||= alignment.next(alignment.place + 100 * PER_MS, BLOCK).jumped;
    expect(jumped).toBe(true);
    run(0);
    expect(place() - before).toBeGreaterThan(90 * PER_MS);
  });
});
