/**
 * The time line of a device, from nothing but counts of samples and the moments at which they were seen. Sound can be
 * seen late (a busy scheduler, a blocked loop), never early: so the earliest sightings tell the truth, and the line
 * runs along their lower edge. It follows a device whose clock is off, and begins anew where samples are missing.
 */
export interface CaptureClock {
  /**
   * Notes that so many samples were seen, beside all that came before.
   * @returns when the last of them was captured: never behind `now`, never before the last answer
   */
  observe(samples: number, now: number): number;
  /** When a sample of this number (of all that were noted) is, was or will be due; null before the first sighting. */
  timeOf(sample: number): number | null;
  /** Samples are missing here (an overrun, a device that was gone): the next sighting begins the line anew. */
  restart(): void;
}

/** Quartz is off by 300 ppm at worst; the line may rise a little faster than that. */
const FASTEST_DRIFT = 400e-6;
/** In so long a time one sighting at least is prompt, or the line is wrong. */
const WINDOW_MS = 2000;
const WINDOW_SIGHTINGS = 4;
/** So far behind the line for a whole window: samples were lost and nobody said so. */
const SILENT_LOSS_MS = 30;

/** @param rateHz of the samples that are counted */
export function createCaptureClock(rateHz: number): CaptureClock {
  const msPerSample = 1000 / rateHz;
  /** When sample 0 would have been, by the line as it runs now; null where it begins anew. */
  let origin: number | null = null;
  let counted = 0;
  let seenAt = 0;
  let answered = Number.NEGATIVE_INFINITY;
  /** Sightings behind the line, one after the other; what a blocked loop reads all at once takes no time. */
  let late: { since: number; sightings: number; earliest: number } | null = null;

  const settle = (sighting: number, now: number): number => {
    if (origin === null || sighting <= origin) {
      late = null;
      return sighting;
    }
    late ??= { since: now, sightings: 0, earliest: sighting };
    late.sightings++;
    late.earliest = Math.min(late.earliest, sighting);
    const risen = origin + Math.min(sighting - origin, Math.max(0, now - seenAt) * FASTEST_DRIFT);
    if (now - late.since < WINDOW_MS || late.sightings < WINDOW_SIGHTINGS) return risen;
    const { earliest } = late;
    late = null;
    return earliest - risen > SILENT_LOSS_MS ? earliest : risen;
  };

  return {
    observe(samples, now) {
      counted += samples;
      origin = settle(now - counted * msPerSample, now);
      seenAt = now;
      answered = Math.max(answered, Math.min(now, origin + counted * msPerSample));
      return answered;
    },
    timeOf: (sample) => (origin === null ? null : origin + sample * msPerSample),
    restart() {
      origin = null;
    },
  };
}
