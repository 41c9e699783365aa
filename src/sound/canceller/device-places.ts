import type { Place } from '../../ports/audio.ts';
import type { Timeline } from '../echo-timeline.ts';
import type { Alignment } from './alignment.ts';

/** Largest difference between device count and device time (ms) before the count restarts. `locked`: once the echo is found. */
const LOST_MS = { locked: 150, free: 10 };

/** Maps a device's sample count to a place in the timeline. The count is exact; only its start is an estimate. */
export interface DevicePlaces {
  /** @param at the device's time for this sample */
  of(place: Place, at: number): number;
  /** Place at which the device restarted: the delay of the echo must be measured again. */
  readonly brokenAt: number;
  /** Marks the break as handled. */
  pass(): void;
}

export function createDevicePlaces(timeline: Timeline, alignment: Alignment, perMs: number): DevicePlaces {
  let brokenAt = Number.POSITIVE_INFINITY;
  let run: { number: number; begin: number } | null = null;
  return {
    of(place, at) {
      const byTime = alignment.placeAt(at * perMs) - place.sample;
      const isKnown = run?.number === place.run;
      const most = alignment.isLocked ? LOST_MS.locked : LOST_MS.free;
      if (run === null || !isKnown || Math.abs(run.begin - byTime) > most * perMs) {
        if (isKnown) alignment.unlock();
        const begin = Math.round(byTime);
        const isNext = run !== null && place.run === run.number + 1;
        const heardFrom = isNext ? place.heardFrom : null;
        if (run !== null && heardFrom !== null)
          timeline.delay(run.begin + heardFrom, Math.max(0, begin - run.begin));
        run = { number: place.run, begin };
        brokenAt = begin + (heardFrom ?? place.sample);
      }
      return run.begin + place.sample;
    },
    get brokenAt() {
      return brokenAt;
    },
    pass() {
      brokenAt = Number.POSITIVE_INFINITY;
    },
  };
}
