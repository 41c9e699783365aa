import type { LagMeasure } from './lag-meter.ts';

/**
 * Maps each moment of the heard sound to a place in the played sound. Device times are estimates, so they only give the
 * start. From then on, sample counts map the two sounds, and the echo itself shows how far their clocks drift apart.
 */
export interface Alignment {
  /** Estimated clock skew: the fraction by which the loudspeaker's clock is faster than the microphone's. */
  readonly drift: number;
  /** The place for the next block once all pending corrections are applied. */
  readonly place: number;
  /** Whether the echo has been measured yet. */
  readonly isLocked: boolean;
  /**
   * The place in the played sound for the next block of the heard sound.
   * @param wanted the place according to the device times
   * @returns the place, the step from sample to sample, and whether the place has jumped
   */
  next(wanted: number, samples: number): { place: number; step: number; jumped: boolean };
  /**
   * Takes a measurement of the echo. @param now samples heard so far
   * @returns the size of the correction: `much` if the learnt path is blurred, `jump` if the sound heard before
   *   belongs to another place
   */
  measured(measure: LagMeasure, now: number): 'little' | 'much' | 'jump';
  /** Converts a time to a place: by the device times, corrected by their error so far. */
  placeAt(byTime: number): number;
  /** Forgets the measured echo; keeps the drift. */
  unlock(): void;
}

/** Deviation from the device times that counts as a jump (ms): above `atOnce` at once, above `lasting` after `forMs`. */
const JUMP_MS = { atOnce: 60, lasting: 12, forMs: 2000 };
/** Smoothing of the error of the device times (share per second), because they jitter and clocks drift. */
const FOLLOWS_PER_S = 1 / 30;
/**
 * A lag that exceeds its error by this much is not drift: samples are missing, or the microphone was moved. After `inARow` such
 * lags, the estimated drift counts as wrong.
 */
const UNEXPECTED = { sigmas: 6, ms: 0.03, inARow: 3 };
/** Largest drift (share): more than any two sound cards drift apart. */
const LARGEST_DRIFT = 600e-6;
/** Assumed drift before the first measurement, and its random walk (per square root of a second). */
const DRIFT = { first: 150e-6, wanders: 0.1e-6 };
/** Error `ms` of a lag that is measured over `frames` frames. */
const LAG_ERROR = { ms: 0.004, frames: 12 };
/** A larger correction of the lag (ms) or of the drift counts as `much`. */
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
  /** Long-term error of the device times (samples). */
  let usual = 0;
  let surprises = 0;
  let lasting = { forMs: 0, least: 0 };
  /** Variance of the lag (heard samples) and of its change (per sample), their covariance, and the time of the estimate. */
  let belief: { at: number; lag: number; both: number; change: number } | null = null;

  const jump = (by: number): void => {
    place = (place ?? 0) + by;
    slew = 0;
    lasting = { forMs: 0, least: 0 };
  };
  /** Jump of the position; usually 0. */
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
        // The echo is more exact than the device times: without this, they would cause a jump back.
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
      // The lag was measured in the middle of the frames, and has changed since.
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
