/**
 * The time line of a device, from nothing but counts of samples and the moments at which they were seen. Sound can be
 * seen late (a busy scheduler, a blocked loop), never early: so the earliest sightings tell the truth, and the line
 * runs along their lower edge. It follows a device whose clock is off, and begins again where samples are missing.
 */
export interface CaptureClock {
  readonly msPerSample: number;
  /** When sample 0 would have been, by the line as it runs now; null where it begins again. */
  readonly origin: number | null;
  /** Samples that were seen. */
  readonly counted: number;
  /** When the last of them was captured: never behind the moment of its sighting, never before the last answer. */
  readonly capturedAt: number;
  readonly seenAt: number;
  readonly late: Late | null;
}

/** Sightings behind the line, one after the other; what a blocked loop reads all at once takes no time. */
interface Late {
  readonly since: number;
  readonly observations: number;
  readonly earliest: number;
}

/** Quartz is off by 300 ppm at worst; the line may rise a little faster than that. */
const FASTEST_DRIFT = 400e-6;
/** In this long a time one sighting at least is prompt, or the line is wrong. */
const WINDOW_MS = 2000;
const WINDOW_OBSERVATIONS = 4;
/** This far behind the line for a whole window: samples were lost and nobody said so. */
const SILENT_LOSS_MS = 30;

/** @param rateHz of the samples that are counted */
export function beginCaptureClock(rateHz: number): CaptureClock {
  return {
    ...{ msPerSample: 1000 / rateHz, origin: null, counted: 0, seenAt: 0, late: null },
    capturedAt: Number.NEGATIVE_INFINITY,
  };
}

/** Notes that this many samples were seen, beside all that came before. */
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

/** When a sample of this number (of all that were noted) is, was or will be due; null before the first sighting. */
export function timeOfSample({ origin, msPerSample }: CaptureClock, sample: number): number | null {
  return origin === null ? null : origin + sample * msPerSample;
}

/** Samples are missing here (an overrun, a device that was gone): the next sighting begins the line again. */
export function restartCaptureClock(clock: CaptureClock): CaptureClock {
  return { ...clock, origin: null };
}
