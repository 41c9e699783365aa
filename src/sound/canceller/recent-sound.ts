/** Keeps the last seconds of heard sound, block by block, to learn from again once the echo's place is better known. */
export interface RecentSound {
  hear(block: Float32Array): void;
  /** Number of stored blocks; the newest is 1 block ago. */
  readonly blocks: number;
  /** @param ago from 1 to `blocks`; older blocks are silence */
  blockAt(ago: number): Float32Array;
  /** Drops the stored sound: it does not match what comes next. */
  forget(): void;
}

export function createRecentSound(blockSamples: number, most: number): RecentSound {
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
