import type { LagMeasure } from './lag-meter.ts';

/**
 * Which place of what is played belongs to which moment of what is heard. The times that devices tell are estimates; so they
 * only begin it. From then on the two sounds run by their counts of samples, and by what the echo itself tells of
 * how far their clocks are apart.
 */
export interface Alignment {
  /** Share by which the loudspeaker's clock is faster than the microphone's, as far as is known. */
  readonly drift: number;
  /** The place for the next block as it will be when all that was measured is followed. */
  readonly place: number;
  /** Whether the echo has told anything yet. */
  readonly isLocked: boolean;
  /**
   * The place in what is played for the next block of what is heard.
   * @param wanted the place by the times that the devices tell
   * @returns the place, the step from sample to sample, and whether the place has jumped
   */
  next(wanted: number, samples: number): { place: number; step: number; jumped: boolean };
  /**
   * The echo was measured. @param now samples heard so far
   * @returns how much was corrected: `much` means that what was learnt meanwhile is blurred, `jump` that what was heard before
   *   lies elsewhere
   */
  measured(measure: LagMeasure, now: number): 'little' | 'much' | 'jump';
  /** The place of a moment, by the times that the devices tell and how far they were off until now. */
  placeAt(byTime: number): number;
  /** Nothing of the echo is known any more; the drift is. */
  unlock(): void;
}

/** A place off by more than this from what the times tell is an error at once; and by so much for so long, too. */
const JUMP_MS = { atOnce: 60, lasting: 12, forMs: 2000 };
/** What the times tell wavers, and clocks drift: that far they are followed (share a second). */
const FOLLOWS_PER_S = 1 / 30;
/**
 * A lag that is larger than its error is no drift: samples are missing somewhere, or somebody moved the microphone. After several in
 * a row, and it is the drift that is wrong.
 */
const UNEXPECTED = { sigmas: 6, ms: 0.03, inARow: 3 };
/** No two sound cards are further apart. */
const LARGEST_DRIFT = 600e-6;
/** What is believed of a drift before anything is measured, and how fast it wanders (per square root of a second). */
const DRIFT = { first: 150e-6, wanders: 0.1e-6 };
/** Of a lag that was measured over the usual number of frames, milliseconds, and the frames. */
const LAG_ERROR = { ms: 0.004, frames: 12 };
/** A correction of more is much: of the lag in milliseconds, or of the drift. */
const MUCH = { ms: 0.04, drift: 15e-6 };
/** A correction of the lag is spread over this many blocks. */
const SLEW_BLOCKS = 4;

export function createAlignment(heardRateHz: number, playedRateHz: number): Alignment {
  const ratio = playedRateHz / heardRateHz;
  const perMs = playedRateHz / 1000;
  const perHeardMs = heardRateHz / 1000;
  let place: number | null = null;
  let drift = 0;
  let slew = 0;
  /** How far the places are off from what the times tell, in the long run. */
  let usual = 0;
  let surprises = 0;
  let lasting = { forMs: 0, least: 0 };
  /** Of the lag (samples heard) and its change (per sample): error of the two, and when that was so. */
  let belief: { at: number; lag: number; both: number; change: number } | null = null;

  const jump = (by: number): void => {
    place = (place ?? 0) + by;
    slew = 0;
    lasting = { forMs: 0, least: 0 };
  };
  /** How far it has to jump; 0 mostly. */
  const findJump = (off: number, ms: number): number => {
    const unusual = off - usual;
    usual += unusual * Math.min(1, (FOLLOWS_PER_S * ms) / 1000);
    if (Math.abs(unusual) > JUMP_MS.atOnce * perMs) return unusual;
    if (Math.abs(unusual) < JUMP_MS.lasting * perMs) {
      lasting = { forMs: 0, least: 0 };
      return 0;
    }
    const isLeast = lasting.forMs === 0 || Math.abs(unusual) < Math.abs(lasting.least);
    lasting = { forMs: lasting.forMs + ms, least: isLeast ? unusual : lasting.least };
    return lasting.forMs < JUMP_MS.forMs ? 0 : lasting.least;
  };

  return {
    get drift() {
      return drift;
    },
    get place() {
      return (place ?? 0) + slew;
    },
    get isLocked() {
      return belief !== null;
    },
    next(wanted, samples) {
      let jumped = false;
      if (place === null) {
        place = wanted;
        usual = 0;
        jumped = true;
      }
      const by = findJump(wanted - place, (samples * 1000) / heardRateHz);
      if (by !== 0) {
        jump(by);
        jumped = true;
      }
      const part = slew / SLEW_BLOCKS;
      slew = Math.abs(slew) < 1e-3 ? 0 : slew - part;
      const from = place;
      const step = ratio * (1 + drift) + part / samples;
      place += step * samples;
      return { place: from, step, jumped };
    },
    measured({ lag, likeness, ago, frames, isFirst }, now) {
      const at = now - ago;
      const error = ((LAG_ERROR.ms * perHeardMs) / likeness ** 2) ** 2 * (LAG_ERROR.frames / frames);
      if (belief === null || isFirst) {
        belief = { at, lag: error, both: 0, change: belief?.change ?? DRIFT.first ** 2 };
        return 'little';
      }
      const passed = Math.max(0, at - belief.at);
      const wandered = DRIFT.wanders ** 2 / heardRateHz;
      const changeError = belief.change + wandered * passed;
      const bothError = belief.both + passed * belief.change;
      const lagError = belief.lag + 2 * passed * belief.both + passed * passed * belief.change;
      const expected = Math.max(UNEXPECTED.sigmas * Math.sqrt(lagError + error), perHeardMs * UNEXPECTED.ms);
      if (Math.abs(lag) > expected) {
        surprises += 1;
        jump(-lag * ratio);
        // The echo knows better than the times: without this, they would have it jump back.
        usual += lag * ratio;
        const change = surprises >= UNEXPECTED.inARow ? DRIFT.first ** 2 : belief.change;
        belief = { at, lag: error, both: 0, change };
        return 'jump';
      }
      surprises = 0;
      const gain = { lag: lagError / (lagError + error), change: bothError / (lagError + error) };
      belief = {
        at,
        lag: (1 - gain.lag) * lagError,
        both: (1 - gain.lag) * bothError,
        change: changeError - gain.change * bothError,
      };
      const change = gain.change * lag;
      // What was measured in the middle has gone on since.
      const lagNow = gain.lag * lag + change * ago;
      slew -= lagNow * ratio;
      drift = Math.min(LARGEST_DRIFT, Math.max(-LARGEST_DRIFT, drift - change));
      const isMuch = Math.abs(lagNow) > MUCH.ms * perHeardMs || Math.abs(change) > MUCH.drift;
      return isMuch ? 'much' : 'little';
    },
    placeAt: (byTime) => byTime - usual,
    unlock() {
      belief = null;
    },
  };
}
