/**
 * Estimates a device's timeline from sample counts and the moments at which they were observed. Sound can be observed late
 * (busy scheduler, blocked event loop) but never early. So the line runs along the earliest observations. It follows a device
 * whose clock is off, and starts again after missing samples.
 */
export interface CaptureClock {
  readonly msPerSample: number;
  /** Time of sample 0 by the current line; null when the line starts again. */
  readonly origin: number | null;
  /** Number of samples seen. */
  readonly counted: number;
  /** Capture time of the last sample: never after its observation, never before the previous answer. */
  readonly capturedAt: number;
  readonly seenAt: number;
  readonly late: Late | null;
}

/** A run of late observations. */
interface Late {
  readonly since: number;
  readonly observations: number;
  readonly earliest: number;
}

/** Fastest rise of the line, as a share of elapsed time: quartz clocks are off by 300 ppm at worst. */
const FASTEST_DRIFT = 400e-6;
/** Time (ms) within which at least one observation must be prompt; otherwise the line is wrong. */
const WINDOW_MS = 2000;
const WINDOW_OBSERVATIONS = 4;
/** If all observations in a window are later than this (ms), samples were lost silently. */
const SILENT_LOSS_MS = 30;

/** @param rateHz of the counted samples */
export function beginCaptureClock(rateHz: number): CaptureClock {
  return {
    msPerSample: 1000 / rateHz,
    origin: null,
    counted: 0,
    seenAt: 0,
    late: null,
    capturedAt: Number.NEGATIVE_INFINITY,
  };
}

/** Counts newly seen samples. */
export function noteSamples(clock: CaptureClock, samples: number, now: number): CaptureClock {
  const counted = clock.counted + samples;
  const sinceZero = counted * clock.msPerSample;
  const { origin, late } = settle(clock, now - sinceZero, now);
  const capturedAt = Math.max(clock.capturedAt, Math.min(now, origin + sinceZero));
  return { msPerSample: clock.msPerSample, origin, counted, capturedAt, seenAt: now, late };
}

function settle(
  { origin, late: before, seenAt }: CaptureClock,
  observation: number,
  now: number,
): { origin: number; late: Late | null } {
  if (origin === null || observation <= origin) return { origin: observation, late: null };
  const since = before?.since ?? now;
  const observations = (before?.observations ?? 0) + 1;
  const earliest = Math.min(before?.earliest ?? observation, observation);
  const risen = origin + Math.min(observation - origin, Math.max(0, now - seenAt) * FASTEST_DRIFT);
  if (now - since < WINDOW_MS || observations < WINDOW_OBSERVATIONS) {
    return { origin: risen, late: { since, observations, earliest } };
  }
  return { origin: earliest - risen > SILENT_LOSS_MS ? earliest : risen, late: null };
}

/** Time of a sample, past or future, by its number; null before the first observation. */
export function timeOfSample({ origin, msPerSample }: CaptureClock, sample: number): number | null {
  return origin === null ? null : origin + sample * msPerSample;
}

/** Call when samples are missing (overrun, device gone): the next observation starts the line again. */
export function restartCaptureClock(clock: CaptureClock): CaptureClock {
  return { ...clock, origin: null };
}
