import { describe, expect, it } from 'vitest';
import { draw } from '../../src/core/random.ts';
import {
  beginCaptureClock,
  noteSamples,
  restartCaptureClock,
  timeOfSample,
} from '../../src/sound/capture-clock.ts';

const RATE_HZ = 24_000;
const PIECE = 1920;
const PIECE_MS = 80;

/** A device that is off by some ppm; a given scheduler delays when its pieces are seen. */
function run(options: {
  ppm?: number;
  seconds: number;
  lateMs?: (index: number, dueAt: number) => number;
  /** Missing sound before a piece, milliseconds. */
  missing?: (index: number) => number;
  /** The loss of samples before this piece was reported. */
  restartsAt?: number;
}) {
  const { ppm = 0, seconds, lateMs = () => 0, missing = () => 0, restartsAt } = options;
  let clock = beginCaptureClock(RATE_HZ);
  const pieceMs = PIECE_MS / (1 + ppm * 1e-6);
  const errors: { at: number; error: number }[] = [];
  let captured = 5000;
  let seen = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < (seconds * 1000) / PIECE_MS; index++) {
    captured += pieceMs + missing(index);
    if (index === restartsAt) clock = restartCaptureClock(clock);
    seen = Math.max(seen, captured + lateMs(index, captured));
    clock = noteSamples(clock, PIECE, seen);
    const answer = clock.capturedAt;
    if (answer > seen || answer < last) throw new Error(`${answer} after ${last}, seen at ${seen}`);
    last = answer;
    errors.push({ at: captured, error: answer - captured });
  }
  return errors;
}
const worst = (errors: readonly { error: number }[]): number =>
  errors.reduce((most, { error }) => Math.max(most, Math.abs(error)), 0);

/** Delays of 0 to 30 ms, with a prompt piece now and then. */
function jitter() {
  let seed = 7;
  return () => {
    const drawn = draw(seed);
    seed = drawn.seed;
    return drawn.value < 0.2 ? 0 : drawn.value * 30;
  };
}

describe('the time line of a capture', () => {
  it('is exact when pieces are seen at once', () => {
    expect(worst(run({ seconds: 10 }))).toBeLessThan(0.01);
  });

  it('does not jitter with the scheduler', () => {
    expect(worst(run({ seconds: 60, lateMs: jitter() }).slice(10))).toBeLessThan(1.5);
  });

  it.each([300, -300])('follows a device that is off by %d ppm for hours', (ppm) => {
    expect(worst(run({ ppm, seconds: 3 * 3600, lateMs: jitter() }).slice(25))).toBeLessThan(3);
  });

  it('does not move when the event loop was blocked for three seconds', () => {
    const blocked = (_: number, dueAt: number): number =>
      dueAt > 20_000 && dueAt < 23_000 ? 23_000 - dueAt : 0;
    expect(worst(run({ seconds: 40, lateMs: blocked }))).toBeLessThan(2);
  });

  it('finds the true time when the first piece was seen late', () => {
    const errors = run({ seconds: 10, lateMs: (index) => (index === 0 ? 900 : 0) });
    expect(errors[0]?.error).toBeCloseTo(900, 0);
    // Time does not run backwards: it stops until the true time catches up.
    expect(worst(errors.slice(Math.ceil(900 / PIECE_MS) + 1))).toBeLessThan(0.01);
  });

  it('starts again when a loss of samples is reported', () => {
    const errors = run({
      seconds: 20,
      missing: (index) => (index === 100 ? 512 : 0),
      restartsAt: 100,
    });
    expect(worst(errors)).toBeLessThan(0.01);
  });

  it('notices an unreported loss of samples within seconds', () => {
    const errors = run({ seconds: 20, missing: (index) => (index === 100 ? 512 : 0), lateMs: jitter() });
    expect(worst(errors.slice(100 + 5000 / PIECE_MS))).toBeLessThan(6);
  });

  it('gives the due time of a sample', () => {
    const unseen = beginCaptureClock(RATE_HZ);
    expect(timeOfSample(unseen, 0)).toBeNull();
    const clock = noteSamples(unseen, PIECE, 1080);
    expect(timeOfSample(clock, 0)).toBeCloseTo(1000);
    expect(timeOfSample(clock, 2 * PIECE)).toBeCloseTo(1160);
  });
});
