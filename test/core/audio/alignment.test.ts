import { describe, expect, it } from 'vitest';
import { createAlignment } from '../../../src/core/audio/canceller/alignment.ts';

const RATE_HZ = 24_000;
const PER_MS = RATE_HZ / 1000;
const BLOCK = 240;

/** An alignment that has been told `offMs` off for a second and has measured the echo twice. */
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
  it.each([-40, 20, 60])('that was measured %i ms elsewhere stays there, whatever the times tell', (ms) => {
    const { run, measure, place } = locked();
    const before = place();
    expect(measure(ms * PER_MS)).toBe('jump');
    expect(place() - before).toBeCloseTo(-ms * PER_MS, 3);
    expect(run(10)).toBe(false);
    expect(place() - before).toBeCloseTo(-ms * PER_MS, -1);
  });

  it('is told from the times by as much as they were off when it was measured', () => {
    const { alignment, measure } = locked();
    const before = alignment.placeAt(5000);
    measure(20 * PER_MS);
    expect(alignment.placeAt(5000) - before).toBeCloseTo(-20 * PER_MS, 3);
  });

  it('is followed at the pace at which it moves, also where it was compared again in between', () => {
    const alignment = createAlignment(RATE_HZ, RATE_HZ);
    const ppm = 300;
    let heard = 0;
    let from = 0;
    /** How much later the echo comes than the place says. */
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

  it('jumps when the times do', () => {
    const { alignment, run, place } = locked();
    const before = place();
    let jumped = false;
    // 100 ms of the microphone are missing.
    for (let block = 0; block < 3; block++)
      jumped ||= alignment.next(alignment.place + 100 * PER_MS, BLOCK).jumped;
    expect(jumped).toBe(true);
    run(0);
    expect(place() - before).toBeGreaterThan(90 * PER_MS);
  });
});
