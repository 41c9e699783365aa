import type { MonotonicMs } from '../../protocol/common/time.ts';
import type { ScreenBeat } from '../../protocol/screen.ts';

/** Longest pause between beats (ms); the page beats every 5 s. */
const MOST_SILENT_MS = 20_000;
/** Longest time to the first beat (ms): a browser takes half a minute to start on a small board. */
const LONGEST_START_MS = 60_000;

/** Whether a browser still paints the page, by the beats that the agent has heard. */
export interface BeatWatch {
  /** Start of the browser: earlier beats came from another browser. */
  readonly startedAt: MonotonicMs;
  readonly hasBeaten: boolean;
  /** The last beat, or the last time at which the agent did not answer. */
  readonly excusedAt: MonotonicMs;
}

export const beginWatch = (now: MonotonicMs): BeatWatch => ({
  startedAt: now,
  hasBeaten: false,
  excusedAt: now,
});

/** @param beat the agent's answer; null: it does not answer, so the page's beats are unknown */
export function takeBeat(watch: BeatWatch, beat: ScreenBeat | null, now: MonotonicMs): BeatWatch {
  if (beat === null) return { ...watch, excusedAt: now };
  const beatAt = beat.ageMs === null ? null : now - beat.ageMs;
  if (beatAt === null || beatAt < watch.startedAt) return watch;
  return { ...watch, hasBeaten: true, excusedAt: Math.max(watch.excusedAt, beatAt) };
}

export function isFrozen({ hasBeaten, excusedAt }: BeatWatch, now: MonotonicMs): boolean {
  return now - excusedAt > (hasBeaten ? MOST_SILENT_MS : LONGEST_START_MS);
}
