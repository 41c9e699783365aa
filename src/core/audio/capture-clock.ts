/**
 * The time line of a device, from nothing but counts of samples and the moments at which they were seen. Sound can be
 * seen late (a busy scheduler, a blocked loop), never early: so the earliest sightings tell the truth, and the line
 * runs along their lower edge. It follows a device whose clock is off, and begins again where samples are missing.
 */
export interface CaptureClock {
  /**
   * Notes that this many samples were seen, beside all that came before.
   * @returns when the last of them was captured: never behind `now`, never before the last answer
   */
  trackNoiseFloor(samples: number, now: number): number;
  /** When a sample of this number (of all that were noted) is, was or will be due; null before the first sighting. */
  timeOf(sample: number): number | null;
  /** Samples are missing here (an overrun, a device that was gone): the next sighting begins the line again. */
  restart(): void;
}

/** Quartz is off by 300 ppm at worst; the line may rise a little faster than that. */
const FASTEST_DRIFT = 400e-6;
/** In this long a time one sighting at least is prompt, or the line is wrong. */
const WINDOW_MS = 2000;
const WINDOW_OBSERVATIONS = 4;
/** So far behind the line for a whole window: samples were lost and nobody said so. */
const SILENT_LOSS_MS = 30;

/** @param rateHz of the samples that are counted */
export function createCaptureClock(rateHz: number): CaptureClock {
  const msPerSample = 1000 / rateHz;
  /** When sample 0 would have been, by the line as it runs now; null where it begins again. */
  let origin: number | null = null;
  let counted = 0;
  let seenAt = 0;
  let answered = Number.NEGATIVE_INFINITY;
  /** Sightings behind the line, one after the other; what a blocked loop reads all at once takes no time. */
  let late: { since: number; observations: number; earliest: number } | null = null;

  const settle = (observation: number, now: number): number => {
    if (origin === null || observation <= origin) {
      late = null;
      return observation;
    }
    late ??= { since: now, observations: 0, earliest: observation };
    late.observations++;
    late.earliest = Math.min(late.earliest, observation);
    const risen = origin + Math.min(observation - origin, Math.max(0, now - seenAt) * FASTEST_DRIFT);
    if (now - late.since < WINDOW_MS || late.observations < WINDOW_OBSERVATIONS) return risen;
    const { earliest } = late;
    late = null;
    return earliest - risen > SILENT_LOSS_MS ? earliest : risen;
  };

  return {
    trackNoiseFloor(samples, now) {
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
