import { describe, expect, it } from 'vitest';
import {
  EARLY_CHUNKS,
  earliestSend,
  IDLE_PACER,
  type Pacer,
  recordSend,
} from '../../../../src/device/lane/uplink/pacer.ts';
import { fc } from '../../../properties.ts';

const CHUNK_MS = 320;
const FASTEST_MS = CHUNK_MS * 0.999;

/** Sends each chunk as early as allowed. @returns the times of sending */
function sendAll(readyAt: readonly number[]): number[] {
  let pacer: Pacer = IDLE_PACER;
  let now = Number.NEGATIVE_INFINITY;
  return readyAt.map((ready, index) => {
    now = Math.max(now, ready);
    const behind = readyAt.slice(index + 1).findIndex((next) => next > now);
    const isNewest = behind === 0 || index === readyAt.length - 1;
    now = Math.max(now, earliestSend(pacer, CHUNK_MS, isNewest));
    pacer = recordSend(pacer, now, CHUNK_MS);
    return now;
  });
}

describe('pacer', () => {
  it('sends the first chunk at once', () => {
    expect(earliestSend(IDLE_PACER, CHUNK_MS, true)).toBe(Number.NEGATIVE_INFINITY);
    expect(recordSend(IDLE_PACER, 1000, CHUNK_MS).dueAt).toBeCloseTo(1000 + FASTEST_MS, 9);
  });

  it('sends a backlog strictly in time, and only its newest chunk early', () => {
    const sent = sendAll([0, 0, 0, 0]);
    expect(sent[0]).toBe(0);
    expect(sent[1]).toBeCloseTo(FASTEST_MS, 6);
    expect(sent[2]).toBeCloseTo(2 * FASTEST_MS, 6);
    expect(sent[3]).toBe(sent[2]);
  });

  it.each([0.02, 0.2, 0.4, 0.6, 0.8, 0.98])(
    'does not hold up what comes live %f chunks after a backlog',
    (phase) => {
      const backlog = new Array<number>(20).fill(0);
      const end = 19 * FASTEST_MS;
      const live = Array.from({ length: 50 }, (_, i) => end + (i + phase) * CHUNK_MS);
      expect(sendAll([...backlog, ...live]).slice(-50)).toEqual(live);
    },
  );

  it('never delays a sender at real time when its clock is 300 ppm fast and its delivery jitters', () => {
    let seed = 1;
    const ready = Array.from({ length: 20_000 }, (_, i) => {
      seed = (seed * 16_807) % 2_147_483_647;
      return i * CHUNK_MS * 0.9997 + (seed % 150);
    });
    const ordered = ready.toSorted((a, b) => a - b);
    expect(sendAll(ordered)).toEqual(ordered);
  });

  it('gains no credit while nothing is sent', () => {
    const sent = sendAll([0, 100_000, 100_000, 100_000]);
    expect(sent[1]).toBe(100_000);
    expect(sent[2]).toBeCloseTo(100_000 + FASTEST_MS, 6);
    expect(sent[3]).toBe(sent[2]);
  });

  it('stays within two chunks of real time plus the drift allowance', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 2, maxLength: 60 });
    fc.assert(
      fc.property(gaps, (given) => {
        let at = 0;
        const sent = sendAll(given.map((gap) => (at += gap)));
        let most = 0;
        for (let i = 0; i < sent.length; i++) {
          for (let j = i + 1; j < sent.length; j++) {
            const took = (sent[j] ?? 0) - (sent[i] ?? 0);
            // j - i + 1 chunks; a sender at real time takes j - i chunk durations for them, one that is ahead this much less.
            most = Math.max(most, (j - i) * FASTEST_MS - took);
          }
        }
        expect(most).toBeLessThanOrEqual(EARLY_CHUNKS * CHUNK_MS + 1e-6);
      }),
    );
  });

  it('catches up with a backlog at the drift allowance only: 1000 chunks save a third of a second', () => {
    const sent = sendAll(new Array<number>(1001).fill(0));
    const took = (sent.at(-2) ?? 0) - (sent[0] ?? 0);
    expect(took / (999 * CHUNK_MS)).toBeGreaterThan(0.998);
    expect(took / (999 * CHUNK_MS)).toBeLessThan(1);
  });
});
