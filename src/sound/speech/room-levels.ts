/** Distribution of the levels of recent frames (20 ms): the usual loudness of a room and its variation. */

const BINS = 200;
const LOWEST_DB = -100;
const BIN_DB = 0.5;

export interface RoomLevels {
  readonly frames: number;
  note(levelDb: number): void;
  /** The level below which this share of the frames lies. */
  below(share: number): number;
}

/** @param mostFrames older frames are forgotten */
export function createRoomLevels(mostFrames: number): RoomLevels {
  const counts = new Uint16Array(BINS);
  const ring = new Uint8Array(mostFrames);
  let next = 0;
  let frames = 0;
  return {
    get frames() {
      return frames;
    },
    note(levelDb) {
      const bin = Math.max(0, Math.min(BINS - 1, Math.round((levelDb - LOWEST_DB) / BIN_DB)));
      if (frames === mostFrames) {
        const oldest = ring[next] as number;
        counts[oldest] = (counts[oldest] as number) - 1;
      } else frames++;
      ring[next] = bin;
      counts[bin] = (counts[bin] as number) + 1;
      next = (next + 1) % mostFrames;
    },
    below(share) {
      const wanted = share * frames;
      let passed = 0;
      for (let bin = 0; bin < BINS; bin++) {
        passed += counts[bin] as number;
        if (passed > wanted) return LOWEST_DB + bin * BIN_DB;
      }
      return LOWEST_DB;
    },
  };
}
