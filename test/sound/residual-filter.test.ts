import { expect, it } from 'vitest';
import { createResidualFilter } from '../../src/sound/canceller/residual-filter.ts';
import { noise } from '../acoustics.ts';

/** 10 ms at 24 kHz. */
const BLOCK = 240;
/** Ten seconds. */
const BLOCKS = 1000;
/** No error of the adaptive filter itself, per bin of a transform of 512 samples. */
const NO_ERROR = new Float64Array(257);

const powerOf = (sound: Float64Array): number => sound.reduce((sum, sample) => sum + sample * sample, 0);

it('removes a fifth of the echo that the adaptive filter has left, from the tenth second at the latest', () => {
  const filter = createResidualFilter(BLOCK);
  const sound = Float64Array.from(noise(BLOCKS * BLOCK, -20, 1));
  let [before, after] = [0, 0];
  for (let block = 0; block < BLOCKS; block += 1) {
    // Words and pauses of half a second: in shorter pauses, the echo would count as noise of the room.
    const level = block % 100 < 50 ? 1 : 0;
    const echo = sound.subarray(block * BLOCK, (block + 1) * BLOCK).map((sample) => sample * level);
    const rest = echo.map((sample) => sample / 5);
    const passed = filter.step(rest, echo, NO_ERROR, false);
    if (block < 0.9 * BLOCKS) continue;
    before += powerOf(rest);
    after += powerOf(passed);
  }
  expect(10 * Math.log10(before / after)).toBeGreaterThan(20);
});
