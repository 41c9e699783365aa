/**
 * Removes a microphone's DC offset. An offset makes an edge at each end of a block; an edge contains all frequencies and
 * would hide the echo from the filter.
 */
export interface DcOffsetFilter {
  /** @returns the sound without its offset; overwritten by the next call */
  remove(block: Float32Array): Float32Array;
  /** Adds the offset of the previous block again, so that the sent sound begins and ends without a click. */
  restore(sound: Float32Array): void;
}

/** Corner frequency (Hz), far below any voice: the filter removes only one thousandth at 80 Hz. */
const CORNER_HZ = 2;

export function createDcOffsetFilter(rateHz: number, blockSamples: number): DcOffsetFilter {
  const share = 1 - Math.exp((-2 * Math.PI * CORNER_HZ) / rateHz);
  const sound = new Float32Array(blockSamples);
  let now = new Float64Array(blockSamples);
  let before = new Float64Array(blockSamples);
  let [mean, zero] = [0, 0];
  return {
    remove(block) {
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
    restore(left) {
      for (let at = 0; at < left.length; at++) left[at] = (left[at] as number) + (before[at] as number);
    },
  };
}
