/**
 * Parts a microphone's sound from its zero. One that is off makes an edge of each end of a block, and an edge is all frequencies at once:
 * beside it the echo cannot be learnt.
 */
export interface Zero {
  /** @returns the sound without its zero; overwritten by the next call */
  take(block: Float32Array): Float32Array;
  /** What was taken from the block before the last one is put back, so that what is sent begins and ends without a click. */
  putBack(sound: Float32Array): void;
}

/** Far below any voice: at 80 Hz a thousandth is taken for the zero. */
const CORNER_HZ = 2;

export function createZero(rateHz: number, blockSamples: number): Zero {
  const share = 1 - Math.exp((-2 * Math.PI * CORNER_HZ) / rateHz);
  const sound = new Float32Array(blockSamples);
  let now = new Float64Array(blockSamples);
  let before = new Float64Array(blockSamples);
  let [mean, zero] = [0, 0];
  return {
    take(block) {
      [before, now] = [now, before];
      for (let at = 0; at < block.length; at++) {
        const sample = block[at] as number;
        mean += share * (sample - mean);
        zero += share * (mean - zero);
        now[at] = zero;
        sound[at] = sample - zero;
      }
      return sound;
    },
    putBack(left) {
      for (let at = 0; at < left.length; at++) left[at] = (left[at] as number) + (before[at] as number);
    },
  };
}
