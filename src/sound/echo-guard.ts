import type { EchoMeasure } from './echo-measure.ts';

/** How the lane keeps its own loudspeaker out of the translation. */
export type EchoMode = 'half-duplex' | 'cancel' | 'off';

/** A lane's fallback from its configured echo mode to half-duplex. */
export interface EchoFallback {
  /** `loop`: the lane heard itself repeatedly. `canceller`: the echo canceller does not work. */
  readonly reason: 'loop' | 'canceller';
  /** The configured mode. */
  readonly from: EchoMode;
  readonly message: string;
  /** When cancelling is tried again, with the gate still closed; null: never on its own. */
  readonly tryAt: number | null;
  /** True while cancelling is being tried again. */
  readonly onTrial: boolean;
}

/** A measurement and its time, monotonic milliseconds. */
export interface EchoObservation extends EchoMeasure {
  readonly at: number;
}

/** Knowledge of a lane about the path from its loudspeaker to its microphone. Plain data. */
export interface EchoGuard {
  /** The last few measurements in any mode, oldest first. */
  readonly measures: readonly EchoObservation[];
  /** Measurements that should be impossible in this mode. */
  readonly observations: readonly EchoObservation[];
  /** The last measurement that was reported to the owner. */
  readonly reported: EchoObservation | null;
  readonly fallback: EchoFallback | null;
  /** Total sound played (ms) by the time the canceller became ready; null: no canceller is ready. */
  readonly cancelsSince: number | null;
  /** Total sound played (ms) by the time the path changed, or may have changed. */
  readonly changedAt: number | null;
  /** How often cancelling failed since the mode was last ordered. */
  readonly failures: number;
}

export const NO_ECHO: EchoGuard = {
  measures: [],
  observations: [],
  reported: null,
  fallback: null,
  cancelsSince: null,
  changedAt: null,
  failures: 0,
};

/** Echo below this level (dB) is too weak for the service to recognise. */
const AUDIBLE_DB = -40;
const MEASURES_KEPT = 3;
/** `observations` measurements that agree to `agreeMs` within `withinMs` prove that the lane hears itself. */
const LOOP = { observations: 3, withinMs: 120_000, agreeMs: 30 };
/**
 * Minimum confidence of a report in mode `off`: the loudspeaker should then be far from the microphone, and a person who repeats
 * its words must not count as an echo.
 */
const SURE_WHEN_OFF = 0.8;
/** A first measurement is reported at once, a moved one after `changedAfterMs`, any other after `againAfterMs`. */
const REPORT = { movedMs: 30, movedDb: 6, changedAfterMs: 60_000, againAfterMs: 900_000 };
/** Played sound in which the canceller learns the room (ms); the gate stays closed as in half-duplex. */
const LEARNS_MS = 3000;
/** Played sound in which remaining echo does not yet count as a failure (ms). */
const CONVERGES_MS = 10_000;
/** Wait before cancelling is tried again (minutes), longer after each failure; a trial lasts `TRIAL_MS` of played sound. */
const TRIALS_MIN = [5, 10, 20, 40, 60];
const TRIAL_MS = 20_000;
/**
 * Decay of a furnished room: one decibel in 10 ms (60 dB in 0.6 s). Below `SPEECHLESS_DB` the service recognises no
 * speech; a louder echo takes longer to decay to that level.
 */
const DECAY_MS_PER_DB = 10;
const SPEECHLESS_DB = -45;
const TAIL_MS = { least: 200, most: 1500 };

/** The echo mode that the gate applies. @param playedMs sound given to the loudspeaker so far */
export function modeInForce(guard: EchoGuard, wanted: EchoMode, playedMs: number): EchoMode {
  if (guard.fallback !== null) return 'half-duplex';
  if (wanted !== 'cancel') return wanted;
  return hasLearnt(guard, playedMs) ? 'cancel' : 'half-duplex';
}

function hasLearnt({ cancelsSince, changedAt }: EchoGuard, playedMs: number): boolean {
  return cancelsSince !== null && playedMs - Math.max(cancelsSince, changedAt ?? 0) >= LEARNS_MS;
}

/**
 * The path from loudspeaker to microphone has changed, or may have: the gate closes until the canceller has learnt it.
 * Remaining echo still counts, so that a canceller that never learns is noticed.
 */
export function changePath(guard: EchoGuard, playedMs: number): EchoGuard {
  return hasLearnt(guard, playedMs) ? { ...guard, changedAt: playedMs } : guard;
}

/** How long after its playout a sound may still echo in a chunk. @param unmeasuredMs the guess before any measurement */
export function tailOf(guard: EchoGuard, unmeasuredMs: number): number {
  if (guard.measures.length === 0) return unmeasuredMs;
  // The longest of the last few: too long a tail costs a syllable, too short a tail repeats a sentence.
  const tails = guard.measures.map(
    ({ delayMs, gainDb }) => delayMs + Math.max(100, (gainDb - SPEECHLESS_DB) * DECAY_MS_PER_DB),
  );
  return Math.min(TAIL_MS.most, Math.max(TAIL_MS.least, ...tails));
}

export interface EchoNews {
  readonly guard: EchoGuard;
  /** Whether to report this measurement to the owner. */
  readonly tell: boolean;
  /** The lane falls back to half-duplex now. */
  readonly fellBack: boolean;
}

/** Takes a measurement. @param heard the compared sound: the microphone's, or the canceller's output */
export function observeEcho(
  guard: EchoGuard,
  measure: EchoMeasure,
  given: { wanted: EchoMode; heard: 'microphone' | 'cancelled'; playedMs: number; now: number },
): EchoNews {
  const { wanted, heard, playedMs, now } = given;
  if (measure.gainDb < AUDIBLE_DB) return { guard, tell: false, fellBack: false };
  const observation = { ...measure, at: now };
  const isSure = wanted !== 'off' || measure.confidence >= SURE_WHEN_OFF;
  const reported = isSure && isNews(guard.reported, observation) ? observation : guard.reported;
  const measures =
    heard === 'microphone' ? [...guard.measures, observation].slice(-MEASURES_KEPT) : guard.measures;
  const converged = guard.cancelsSince !== null && playedMs - guard.cancelsSince >= CONVERGES_MS;
  const isLoop =
    (guard.fallback === null || guard.fallback.onTrial) &&
    (wanted === 'off' || (wanted === 'cancel' && heard === 'cancelled' && converged));
  const recent = guard.observations.filter(({ at }) => now - at <= LOOP.withinMs);
  const observations = isLoop ? [...recent, observation].slice(-2 * LOOP.observations) : recent;
  const agreeing = observations.filter(
    ({ delayMs }) => Math.abs(delayMs - observation.delayMs) <= LOOP.agreeMs,
  );
  const fellBack = isLoop && agreeing.length >= LOOP.observations;
  const known = { ...guard, measures, observations, reported };
  const after = fellBack ? fallBack(known, 'loop', wanted, loopMessage(wanted, observation), now) : known;
  return { guard: after, tell: reported === observation, fellBack };
}

/** Falls back to half-duplex until the next order or a successful trial. */
export function fallBack(
  guard: EchoGuard,
  reason: EchoFallback['reason'],
  from: EchoMode,
  message: string,
  now: number,
): EchoGuard {
  const { failures } = guard;
  const waitMs = TRIALS_MIN[Math.min(failures, TRIALS_MIN.length - 1)] ?? 0;
  const tryAt = from === 'cancel' ? now + waitMs * 60_000 : null;
  return {
    ...guard,
    fallback: { reason, from, message, tryAt, onTrial: false },
    observations: [],
    cancelsSince: null,
    failures: failures + 1,
  };
}

/** A new order resets the failures; the measurements of the room stay valid. */
export function reorder(guard: EchoGuard): EchoGuard {
  return { ...guard, observations: [], reported: null, fallback: null, failures: 0 };
}

/** Reviews a fallback: starts a trial when it is due, ends the fallback after a successful trial. */
export function reviewFallback(
  guard: EchoGuard,
  { playedMs, now }: { playedMs: number; now: number },
): { guard: EchoGuard; step: 'try' | 'restore' } | null {
  const { fallback, cancelsSince } = guard;
  if (fallback === null || fallback.tryAt === null) return null;
  if (!fallback.onTrial) {
    if (now < fallback.tryAt) return null;
    const onTrial = { ...fallback, onTrial: true };
    return { guard: { ...guard, fallback: onTrial, observations: [], cancelsSince: null }, step: 'try' };
  }
  if (cancelsSince === null || playedMs - cancelsSince < CONVERGES_MS + TRIAL_MS) return null;
  return { guard: { ...guard, fallback: null }, step: 'restore' };
}

function isNews(reported: EchoObservation | null, now: EchoObservation): boolean {
  if (reported === null) return true;
  const age = now.at - reported.at;
  const moved =
    Math.abs(now.delayMs - reported.delayMs) > REPORT.movedMs ||
    Math.abs(now.gainDb - reported.gainDb) > REPORT.movedDb;
  return age >= (moved ? REPORT.changedAfterMs : REPORT.againAfterMs);
}

function loopMessage(wanted: EchoMode, { delayMs, gainDb }: EchoObservation): string {
  const heard = `the microphone hears the loudspeaker (${Math.round(delayMs)} ms later, ${Math.round(gainDb)} dB)`;
  const why = wanted === 'cancel' ? `${heard} although echo is cancelled` : `${heard} and echo is "off"`;
  const then =
    wanted === 'cancel'
      ? 'the agent will try cancelling again'
      : 'set the echo mode again when that is fixed';
  return `${why}: half-duplex from now on; ${then}`;
}
