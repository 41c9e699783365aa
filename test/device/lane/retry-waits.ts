/** How long a lane waits for its next attempt while a visitor speaks. */
import { expect, it } from 'vitest';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

/** The longest wait for the next attempt while a visitor speaks, without a requested wait. */
export const LONGEST_MS = 18_000;

/** After this many failed attempts, the last one now. */
export function tired(failures: number, seed = 1): LaneHarness {
  const lane = new LaneHarness({ seed }).goConnecting({ windowMs: 3_600_000 });
  for (let i = 1; i < failures; i++) {
    lane.unreach(true);
    lane.until(() => lane.phase === 'acquiring', 61_000);
    lane.grant();
  }
  lane.unreach(true);
  return lane;
}

/** A visitor speaks until the lane retries. @returns how long that took */
export function speakUntilTry(lane: LaneHarness): number {
  const { now } = lane;
  while (lane.phase === 'waiting') lane.speak(1);
  return lane.now - now;
}

/** @param given number of lanes whose waits are compared, and how long one is watched */
export function testSpacing(given: { lanes: number; minutes: number }): void {
  it('retries not before a spacing that grows with the failures, and spread over a fleet', () => {
    const waits: number[] = [];
    for (let seed = 0; seed < given.lanes; seed++) {
      const lane = tired(8, seed * 7919);
      if (lane.due('retry') < LONGEST_MS) continue;
      waits.push(speakUntilTry(lane));
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(15_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(LONGEST_MS + CHUNK_MS);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(2000);
  });

  it(`for ${given.minutes} minutes, with people who never stop speaking, keeps its tries apart`, () => {
    const lane = tired(1);
    const endAt = lane.now + given.minutes * 60_000;
    let tries = 0;
    while (lane.now < endAt) {
      speakUntilTry(lane);
      lane.grant();
      lane.unreach(true);
      tries++;
    }
    // About one every 14 s: some random waits are shorter.
    expect(tries).toBeGreaterThan(3 * given.minutes);
    expect(tries).toBeLessThanOrEqual((290 / 60) * given.minutes);
  });
}

type Wait = readonly [retryAfterMs: number, atLeastMs: number];
export const SHORT_WAITS: readonly Wait[] = [[20_000, 20_000]];
export const LONG_WAITS: readonly Wait[] = [
  [600_000, 600_000],
  [31_536_000_000, 600_000],
];

/** Waits that the backend has requested, for this many lanes. */
export function testAskedWaits(waits: readonly Wait[], lanes: number): void {
  it.each(waits)('does not shorten a requested wait of %d ms at a voice', (retryAfterMs, atLeastMs) => {
    const took: number[] = [];
    for (let seed = 0; seed < lanes; seed++) {
      const lane = new LaneHarness({ seed: seed * 7919 }).goAcquiring();
      lane.speak(3);
      lane.deny({ retryAfterMs });
      took.push(speakUntilTry(lane));
    }
    expect(Math.min(...took)).toBeGreaterThanOrEqual(atLeastMs);
    expect(Math.max(...took)).toBeLessThanOrEqual(atLeastMs * 1.2 + 3000);
    expect(Math.max(...took) - Math.min(...took)).toBeGreaterThan(1000);
  });
}
