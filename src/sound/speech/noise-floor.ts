import type { Talk } from '../../ports/voice.ts';
import type { FrameLevels } from '../frame-levels.ts';

/**
 * Distinguishes pauses from speech by energy alone. Used where a mistake is cheap (to find pauses in held chunks). In doubt it
 * decides for speech: a pause must be clearly quiet.
 */
export interface NoiseFloor {
  /** Level of the quietest frame in each recent chunk, dBFS, oldest first. */
  readonly quietest: readonly number[];
}

/** Levels of a chunk, and what a voice detector says of it. */
export interface ChunkLevels extends FrameLevels {
  /** Verdict of a voice detector; missing if there is none. */
  readonly isSpeech?: boolean;
  /** Verdict about roughly the last second; missing if the detector gives none. */
  readonly talk?: Talk;
}

export const UNKNOWN_NOISE_FLOOR: NoiseFloor = { quietest: [] };

/** Number of chunks remembered (about ten seconds): long enough to include a breath, short enough to follow the room. */
const FLOOR_CHUNKS = 32;
/** Minimum distance of speech from the noise floor (dB). */
const SPEECH_OVER_FLOOR_DB = 9;
/** Level below which it is always a pause (dBFS), however quiet the room is. */
const ALWAYS_QUIET_DB = -62;
/** Highest credible noise floor (dBFS): above it, a person has spoken without a breath. */
const HIGHEST_FLOOR_DB = -35;

/** Takes the next chunk; `voiced` is false only for a clear pause. */
export function trackNoiseFloor(
  noiseFloor: NoiseFloor,
  chunk: ChunkLevels,
): { noiseFloor: NoiseFloor; voiced: boolean } {
  const quietest = [...noiseFloor.quietest, chunk.quietestDb].slice(-FLOOR_CHUNKS);
  const floorDb = Math.min(HIGHEST_FLOOR_DB, Math.min(...quietest));
  const threshold = Math.max(ALWAYS_QUIET_DB, floorDb + SPEECH_OVER_FLOOR_DB);
  return { noiseFloor: { quietest }, voiced: chunk.loudestDb >= threshold };
}
