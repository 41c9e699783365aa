import type { ScreenBeat } from '../../protocol/screen.ts';
import type { MonotonicMs } from '../../protocol/time.ts';

/** The page beats every 5 s. */
const MOST_SILENT_MS = 20_000;
/** A browser takes half a minute to begin on a small board. */
const LONGEST_START_MS = 60_000;

/** Whether a browser still paints the page, by the beats that the agent has heard. */
export interface BeatWatch {
  /** Start of the browser: earlier beats were of another one. */
  readonly startedAt: MonotonicMs;
  readonly hasBeaten: boolean;
  /** The last beat, or the last time at which a beat could not be distinguished. */
  readonly excusedAt: MonotonicMs;
}

export const beginWatch = (now: MonotonicMs): BeatWatch => ({
  startedAt: now,
  hasBeaten: false,
  excusedAt: now,
});

/** @param beat what the agent says; null: it does not answer, so that the page cannot tell its beats */
export function takeBeat(watch: BeatWatch, beat: ScreenBeat | null, now: MonotonicMs): BeatWatch {
  if (beat === null) return { ...watch, excusedAt: now };
  const beatAt = beat.ageMs === null ? null : now - beat.ageMs;
  if (beatAt === null || beatAt < watch.startedAt) return watch;
  return { ...watch, hasBeaten: true, excusedAt: Math.max(watch.excusedAt, beatAt) };
}

export function isFrozen({ hasBeaten, excusedAt }: BeatWatch, now: MonotonicMs): boolean {
  return now - excusedAt > (hasBeaten ? MOST_SILENT_MS : LONGEST_START_MS);
}
