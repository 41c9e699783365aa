import { SILENCE_DBFS } from '../../sound/pcm.ts';

/** A smoothed level: it rises at once and falls slowly, and the last peak stays for a while. */
export interface Meter {
  readonly levelDb: number;
  readonly peakDb: number;
  /** Until this moment the peak does not fall (monotonic ms). */
  readonly peakUntil: number;
  /** The peak as a number; it falls only at intervals, so that it is readable. */
  readonly readoutDb: number;
  readonly readoutUntil: number;
  readonly at: number;
}

export const SILENT_METER: Meter = {
  levelDb: SILENCE_DBFS,
  peakDb: SILENCE_DBFS,
  peakUntil: 0,
  readoutDb: SILENCE_DBFS,
  readoutUntil: 0,
  at: 0,
};

const FALL_DB_PER_S = 26;
const PEAK_HOLD_MS = 1500;
const READOUT_MS = 500;

/** Advances a meter to `now` with the measured level `db`. */
export function follow(meter: Meter, db: number, now: number): Meter {
  const fallDb = (Math.max(0, now - meter.at) * FALL_DB_PER_S) / 1000;
  const levelDb = Math.max(db, SILENCE_DBFS, meter.levelDb - fallDb);
  const fallenPeakDb = now < meter.peakUntil ? meter.peakDb : meter.peakDb - fallDb;
  const isPeak = levelDb >= fallenPeakDb;
  // Only a measured level holds the peak: a falling level would hold itself.
  const peakUntil = db >= fallenPeakDb ? now + PEAK_HOLD_MS : meter.peakUntil;
  const peakDb = isPeak ? levelDb : fallenPeakDb;
  const isRead = peakDb > meter.readoutDb || now >= meter.readoutUntil || peakDb === SILENCE_DBFS;
  return {
    levelDb,
    peakDb,
    peakUntil,
    readoutDb: isRead ? peakDb : meter.readoutDb,
    readoutUntil: isRead ? now + READOUT_MS : meter.readoutUntil,
    at: now,
  };
}

/** Whether the meter still moves at a constant level. */
export function isMoving(meter: Meter, db: number): boolean {
  const restDb = Math.max(db, SILENCE_DBFS);
  return meter.levelDb > restDb || meter.peakDb > restDb || meter.readoutDb !== meter.peakDb;
}
