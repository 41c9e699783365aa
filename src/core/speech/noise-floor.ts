import type { Talk } from '../../ports/voice.ts';

/**
 * Tells a pause from speech by energy alone. It serves the decisions where a mistake is cheap
 * (which held chunks are a pause), so it leans towards "speech": a pause must be clearly quiet.
 */
export interface NoiseFloor {
  /** Quietest frame of each of the last chunks, dBFS, oldest first. */
  readonly quietest: readonly number[];
}

/** What the detector needs to know of a chunk, dBFS. */
export interface ChunkLevels {
  /** Level of its loudest 20 ms frame. */
  readonly loudestDb: number;
  /** Level of its quietest 20 ms frame. */
  readonly quietestDb: number;
  /** What a voice detector makes of it; left out where there is none. */
  readonly isSpeech?: boolean;
  /** What the last second or so is taken for; left out where nothing can tell. */
  readonly talk?: Talk;
}

export const UNKNOWN_NOISE_FLOOR: NoiseFloor = { quietest: [] };

/** About ten seconds of 320 ms chunks: long enough to hold a breath, short enough to follow a room. */
const FLOOR_CHUNKS = 32;
/** Speech stands out from the room by at least this much. */
const SPEECH_OVER_FLOOR_DB = 9;
/** Below this nobody is speaking, however quiet the room is. */
const ALWAYS_QUIET_DB = -62;
/** A floor above this is no room noise: somebody has been speaking without a breath. */
const HIGHEST_FLOOR_DB = -35;

/** Takes the next chunk in; `voiced` is false only where it is clearly a pause. */
export function trackNoiseFloor(
  noiseFloor: NoiseFloor,
  chunk: ChunkLevels,
): { noiseFloor: NoiseFloor; voiced: boolean } {
  const quietest = [...noiseFloor.quietest, chunk.quietestDb].slice(-FLOOR_CHUNKS);
  const floorDb = Math.min(HIGHEST_FLOOR_DB, Math.min(...quietest));
  const threshold = Math.max(ALWAYS_QUIET_DB, floorDb + SPEECH_OVER_FLOOR_DB);
  return { noiseFloor: { quietest }, voiced: chunk.loudestDb >= threshold };
}
