import type { Place } from '../../../ports/audio.ts';
import type { Timeline } from '../echo-timeline.ts';
import type { Alignment } from './alignment.ts';

/** Counts and times that are further apart than this do not belong together; where the echo has been found, times prove little. */
const LOST_MS = { locked: 150, free: 10 };

/** Where in the timeline the sound lies that a device counts: its count is exact, and only where it begins is an estimate. */
export interface DevicePlaces {
  /** @param at the moment that the device tells for it */
  of(place: Place, at: number): number;
  /** From this place on the device runs again: how late the echo comes has to be measured again. */
  readonly brokenAt: number;
  /** The break has been taken notice of. */
  pass(): void;
}

export function createDevicePlaces(timeline: Timeline, alignment: Alignment, perMs: number): DevicePlaces {
  let brokenAt = Number.POSITIVE_INFINITY;
  let run: { number: number; begin: number } | null = null;
  return {
    of(place, at) {
      const told = alignment.placeAt(at * perMs) - place.sample;
      const isKnown = run?.number === place.run;
      const most = alignment.isLocked ? LOST_MS.locked : LOST_MS.free;
      if (run === null || !isKnown || Math.abs(run.begin - told) > most * perMs) {
        if (isKnown) alignment.unlock();
        const begin = Math.round(told);
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
