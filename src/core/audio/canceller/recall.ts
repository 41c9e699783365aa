/** The last seconds of what was heard, block by block, to be learnt from once more when it is better known what to learn. */
export interface Recall {
  hear(block: Float32Array): void;
  /** Blocks that are there: the newest is 1 block ago. */
  readonly blocks: number;
  /** @param ago from 1 to `blocks`; silence for what is not there */
  blockAt(ago: number): Float32Array;
  /** What was heard until now does not belong to what comes. */
  forget(): void;
}

export function createRecall(blockSamples: number, most: number): Recall {
  const ring = Array.from({ length: most }, () => new Float32Array(blockSamples));
  const silence = new Float32Array(blockSamples);
  let newest = 0;
  let blocks = 0;
  return {
    hear(block) {
      newest = (newest + 1) % most;
      ring[newest]?.set(block);
      blocks = Math.min(most, blocks + 1);
    },
    get blocks() {
      return blocks;
    },
    blockAt: (ago) => (ago <= blocks ? ring[(newest + 1 - ago + most) % most] : undefined) ?? silence,
    forget() {
      blocks = 0;
    },
  };
}
