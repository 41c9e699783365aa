import { levelOfPower } from '../../../sound/pcm.ts';

/** The noise of one microphone, measured slot by slot. */
export interface Ear {
  /** Level of the microphone's noise (dBFS); null: not measured yet. */
  readonly noiseDb: number | null;
}

/** Lowest noise of a microphone (dBFS): digital silence is not a measure of noise. */
const LEAST_NOISE_DB = -70;
/** Rise of the noise level with each louder slot (dB): 0.9 dB a second. */
const RISE_DB = 0.018;
const FALL_SHARE = 0.3;

export const FRESH_EAR: Ear = { noiseDb: null };

/** @returns how far the slot is above the noise (dB) */
export function hearLevel(ear: Ear, samples: Int16Array): { ear: Ear; overDb: number } {
  let squares = 0;
  for (const sample of samples) squares += sample * sample;
  const db = Math.max(LEAST_NOISE_DB, levelOfPower(squares / Math.max(1, samples.length)));
  const noiseDb = ear.noiseDb ?? db;
  const next = db < noiseDb ? noiseDb + FALL_SHARE * (db - noiseDb) : Math.min(db, noiseDb + RISE_DB);
  return { ear: { noiseDb: next }, overDb: db - noiseDb };
}
