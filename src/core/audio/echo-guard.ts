import type { EchoMode } from '../uplink/gate.ts';
import type { EchoMeasure } from './echo-measure.ts';

/** Why a lane keeps its loudspeaker out by half-duplex although it was told otherwise. */
export interface EchoFallback {
  /** `loop`: it heard itself again and again. `canceller`: the canceller can't do its work. */
  readonly reason: 'loop' | 'canceller';
  /** What was wanted. */
  readonly from: EchoMode;
  readonly message: string;
  /** When cancelling is tried again, behind the closed gate; null: not by itself. */
  readonly tryAt: number | null;
  /** It is being tried. */
  readonly onTrial: boolean;
}

/** A measure and when it was taken, monotonic milliseconds. */
export interface EchoObservation extends EchoMeasure {
  readonly at: number;
}

/** What a lane knows of the way from its loudspeaker to its microphone. Plain data. */
export interface EchoGuard {
  /** The last few measures, whatever the mode, oldest first. */
  readonly measures: readonly EchoObservation[];
  /** Those that should not have been possible in this mode. */
  readonly observations: readonly EchoObservation[];
  /** The last one that was told. */
  readonly told: EchoObservation | null;
  readonly fallback: EchoFallback | null;
  /** How much had been played when the canceller was ready, milliseconds; null: there is none. */
  readonly cancelsSince: number | null;
  /** How much had been played when the path turned out to be another, or may have become one. */
  readonly changedAt: number | null;
  /** How often cancelling did not hold since somebody last ordered it. */
  readonly failures: number;
}

export const NO_ECHO: EchoGuard = {
  measures: [],
  observations: [],
  told: null,
  fallback: null,
  cancelsSince: null,
  changedAt: null,
  failures: 0,
};

/** Weaker than this the service hears nothing of it. */
const AUDIBLE_DB = -40;
const MEASURES_KEPT = 3;
/** This many sightings that agree, in this long: the lane hears itself. */
const LOOP = { observations: 3, withinMs: 120_000, agreeMs: 30 };
/** A measure is told when there was none, when it has changed by this much, or after this long. */
const TELL = { movedMs: 30, movedDb: 6, changedAfterMs: 60_000, againAfterMs: 900_000 };
/** The canceller learns the room while the loudspeaker sounds: this long the gate is closed as in half-duplex. */
const LEARNS_MS = 3000;
/** And this long echo that is left is no reason to give it up. */
const CONVERGES_MS = 10_000;
/** A canceller that did not hold is tried again after these minutes, later after more; for this much played sound. */
const TRIALS_MIN = [5, 10, 20, 40, 60];
const TRIAL_MS = 20_000;
/**
 * A furnished room falls silent by a decibel in 10 ms (60 dB in 0.6 s). What has fallen to this level is no speech any
 * more: the louder the echo, the longer it takes.
 */
const DECAY_MS_PER_DB = 10;
const SPEECHLESS_DB = -45;
const TAIL_MS = { least: 200, most: 1500 };

/** What the gate goes by. @param playedMs how much the loudspeaker has been given so far */
export function modeInForce(guard: EchoGuard, wanted: EchoMode, playedMs: number): EchoMode {
  if (guard.fallback !== null) return 'half-duplex';
  if (wanted !== 'cancel') return wanted;
  return hasLearnt(guard, playedMs) ? 'cancel' : 'half-duplex';
}

function hasLearnt({ cancelsSince, changedAt }: EchoGuard, playedMs: number): boolean {
  return cancelsSince !== null && playedMs - Math.max(cancelsSince, changedAt ?? 0) >= LEARNS_MS;
}

/**
 * The way from the loudspeaker to the microphone is another one, or may be: the gate closes until the canceller has learnt it. What it
 * leaves of the echo counts as before, so that one which never learns does not go unnoticed.
 */
export function changePath(guard: EchoGuard, playedMs: number): EchoGuard {
  return hasLearnt(guard, playedMs) ? { ...guard, changedAt: playedMs } : guard;
}

/** How long a chunk may still hold the loudspeaker's sound after that was heard. @param unmeasuredMs the guess before any measure */
export function tailOf(guard: EchoGuard, unmeasuredMs: number): number {
  if (guard.measures.length === 0) return unmeasuredMs;
  // The longest of the last few: a tail too long costs a syllable, one too short a sentence said twice.
  const tails = guard.measures.map(
    ({ delayMs, gainDb }) => delayMs + Math.max(100, (gainDb - SPEECHLESS_DB) * DECAY_MS_PER_DB),
  );
  return Math.min(TAIL_MS.most, Math.max(TAIL_MS.least, ...tails));
}

export interface EchoNews {
  readonly guard: EchoGuard;
  /** Whether the owner should hear of this measure. */
  readonly tell: boolean;
  /** The lane falls back to half-duplex now. */
  readonly fellBack: boolean;
}

/** Takes a measure in. @param heard what was compared: the microphone, or what the canceller left of it */
export function observeEcho(
  guard: EchoGuard,
  measure: EchoMeasure,
  given: { wanted: EchoMode; heard: 'microphone' | 'cancelled'; playedMs: number; now: number },
): EchoNews {
  const { wanted, heard, playedMs, now } = given;
  if (measure.gainDb < AUDIBLE_DB) return { guard, tell: false, fellBack: false };
  const observation = { ...measure, at: now };
  const told = isNews(guard.told, observation) ? observation : guard.told;
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
  const known = { ...guard, measures, observations, told };
  const after = fellBack ? fallBack(known, 'loop', wanted, loopMessage(wanted, observation), now) : known;
  return { guard: after, tell: told === observation, fellBack };
}

/** From here on half-duplex, whatever is wanted, until the next order or a trial that holds. */
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

/** A new order is a new trial; what was measured of the room stays true. */
export function reorder(guard: EchoGuard): EchoGuard {
  return { ...guard, observations: [], told: null, fallback: null, failures: 0 };
}

/** What becomes of a fallback now: a trial begins, or it has held. */
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

function isNews(told: EchoObservation | null, now: EchoObservation): boolean {
  if (told === null) return true;
  const age = now.at - told.at;
  const moved =
    Math.abs(now.delayMs - told.delayMs) > TELL.movedMs || Math.abs(now.gainDb - told.gainDb) > TELL.movedDb;
  return age >= (moved ? TELL.changedAfterMs : TELL.againAfterMs);
}

function loopMessage(wanted: EchoMode, { delayMs, gainDb }: EchoObservation): string {
  const heard = `the microphone hears the loudspeaker (${Math.round(delayMs)} ms later, ${Math.round(gainDb)} dB)`;
  const why = wanted === 'cancel' ? `${heard} although echo is cancelled` : `${heard} and echo is "off"`;
  const then =
    wanted === 'cancel'
      ? 'cancelling is tried again by itself'
      : 'order the echo mode again when that is fixed';
  return `${why}: half-duplex from now on; ${then}`;
}
