import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { cancellerBlock, createCanceller } from '../../../src/core/audio/canceller/canceller.ts';
import { noise } from '../../acoustics.ts';

const RATE_HZ = 24_000;
const PER_MS = RATE_HZ / 1000;
const BLOCK = cancellerBlock(RATE_HZ);
/** A word, and silence until the canceller rests. */
const WORD_MS = 600;
const CYCLE_MS = 2800;
const PATH_MS = 30;
const CYCLES = { first: 8, more: 4, times: 3 };
/** In four cycles; one block that is kept of each step would be four times as much. */
const MOST_GROWTH_BYTES = 256 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('keeps nothing, however often the loudspeaker speaks', { timeout: 120_000 }, () => {
  const canceller = createCanceller({ heardRateHz: RATE_HZ, playedRateHz: RATE_HZ });
  const word = noise(WORD_MS * PER_MS, -25, 3);
  const cycle = new Float32Array(CYCLE_MS * PER_MS);
  cycle.set(
    word.map((sample) => sample / 4),
    PATH_MS * PER_MS,
  );
  let at = 0;
  let rests = 0;
  const speak = (times: number): void => {
    for (let count = 0; count < times; count++, at += CYCLE_MS) {
      // Now and then the device begins its count again.
      const run = 1 + Math.floor(at / CYCLE_MS / 4);
      canceller.played(word, at, false, { run, sample: at * PER_MS, heardFrom: null });
      for (let from = 0; from < cycle.length; from += BLOCK)
        canceller.step(cycle.subarray(from, from + BLOCK), at + from / PER_MS);
      if (canceller.rests) rests += 1;
    }
  };
  const used = (): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  speak(CYCLES.first);
  expect(canceller.found).toBeGreaterThan(0);
  const growths: number[] = [];
  for (let time = 0; time < CYCLES.times; time++) {
    const before = used();
    speak(CYCLES.more);
    growths.push(used() - before);
  }
  // What the machine compiles meanwhile counts, too, but not each time.
  expect(Math.min(...growths)).toBeLessThan(MOST_GROWTH_BYTES);
  expect(rests).toBe(CYCLES.first + CYCLES.more * CYCLES.times);
});
