import { SILENCE_DBFS } from '../../core/audio/pcm.ts';

/** A level as an eye can follow it: it rises at once, falls slowly, and the last peak stays for a while. */
export interface Meter {
  readonly levelDb: number;
  readonly peakDb: number;
  /** Until then the peak does not fall, monotonic milliseconds. */
  readonly peakUntil: number;
  /** The peak as a number to read, which falls only now and then. */
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

/** Moves a meter on to `now`, when `db` is what is measured. */
export function follow(meter: Meter, db: number, now: number): Meter {
  const fallDb = (Math.max(0, now - meter.at) * FALL_DB_PER_S) / 1000;
  const levelDb = Math.max(db, SILENCE_DBFS, meter.levelDb - fallDb);
  const fallenPeakDb = now < meter.peakUntil ? meter.peakDb : meter.peakDb - fallDb;
  const isPeak = levelDb >= fallenPeakDb;
  // Only what is measured is a peak to hold: a level that falls would hold itself up.
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

/** Whether the meter still moves without anything new being measured. */
export function isMoving(meter: Meter, db: number): boolean {
  const restDb = Math.max(db, SILENCE_DBFS);
  return meter.levelDb > restDb || meter.peakDb > restDb || meter.readoutDb !== meter.peakDb;
}
